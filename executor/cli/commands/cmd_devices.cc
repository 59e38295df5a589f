// graph_run devices: lists devices and plug-ins, and with --kernels the op table.
#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/plugins/host.h"
#include "executor/cli/plugins/kernel_table.h"
#include "executor/cli/plugins/pjrt_report.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon::cli {
namespace {

// The kernels that a device can run.
struct KernelCounts {
  int64_t own = 0;      // for its type
  int64_t for_all = 0;  // for DEFAULT, which serve every type of device
};

KernelCounts CountKernels(const Device& device) {
  KernelCounts counts;
  for (const auto& kernel : KernelRegistry::Global().List()) {
    if (!IsForDevicesOf(*kernel, device.plugin())) continue;
    if (kernel->device_type == device.type()) ++counts.own;
    if (kernel->device_type == "DEFAULT") ++counts.for_all;
  }
  return counts;
}

Json DeviceJson(const Device& device) {
  const KernelCounts kernels = CountKernels(device);
  Json json = Json::Object();
  json.Set("name", device.physical_name())
      .Set("type", device.type())
      .Set("kind", device.kind())
      .Set("ordinal", device.ordinal())
      .Set("plugin", device.plugin())
      .Set("priority", device.priority())
      .Set("memory_bytes", device.memory_bytes())
      .Set("kernels", kernels.own)
      .Set("default_kernels", kernels.for_all);
  AddPjrtDevice(device, json);
  return json;
}

Json PluginJson(const PluginInfo& plugin) {
  Json json = Json::Object();
  json.Set("path", plugin.path)
      .Set("status", Json::OfStatus(plugin.status))
      .Set("entry_points", Json::ArrayOf(plugin.entry_points))
      .Set("device_type", plugin.device_type)
      .Set("kind", DeviceKindName(plugin.kind))
      .Set("ops", Json::ArrayOf(plugin.ops))
      .Set("kernels", plugin.kernels)
      .Set("pass", plugin.pass)
      .Set("profiler", plugin.profiler)
      .Set("resident", plugin.resident)
      .Set("warnings", Json::ArrayOf(plugin.warnings))
      .Set("doubts", Json::ArrayOf(plugin.doubts))
      .Set("notes", Json::ArrayOf(plugin.notes));
  if (plugin.next) json.Set("next_pluggable", NextPluggableJson(*plugin.next));
  if (plugin.pjrt) json.Set("pjrt", PjrtJson(*plugin.pjrt));
  return json;
}

void AddJson(const Host& host, Json& doc) {
  Json devices = Json::Array(), plugins = Json::Array();
  for (const Device* device : host.devices()) devices.Push(DeviceJson(*device));
  for (const PluginInfo& plugin : Plugins()) plugins.Push(PluginJson(plugin));
  doc.Set("devices", std::move(devices)).Set("plugins", std::move(plugins));
}

std::string DevicesText(const Host& host, const Style& style) {
  Table table({"device", ">priority", ">memory", ">kernels", ">of DEFAULT", "from"});
  for (const Device* device : host.devices()) {
    const KernelCounts kernels = CountKernels(*device);
    table.Row({style.Bold(device->physical_name()), absl::StrCat(device->priority()),
               device->memory_bytes() == 0 ? "-" : Bytes(device->memory_bytes()),
               absl::StrCat(kernels.own), absl::StrCat(kernels.for_all),
               device->plugin().empty() ? "built in" : std::string(device->plugin())});
  }
  return table.Text(style);
}

std::string PluginText(const PluginInfo& plugin, const Host& host, const Style& style) {
  std::string text = absl::StrCat("\n", style.Bold(plugin.path), "\n");
  if (!plugin.status.ok())
    return absl::StrCat(text, "  ", style.Red("failed"), ": ", OneLine(plugin.status.message()),
                        "\n");
  absl::StrAppend(&text, "  entry points  ", absl::StrJoin(plugin.entry_points, ", "), "\n");
  if (!plugin.device_type.empty()) {
    absl::StrAppend(&text, "  device type   ", plugin.device_type, " (",
                    Plural(plugin.device_count, "device"), ", ", DeviceKindName(plugin.kind),
                    ")\n");
  }
  absl::StrAppend(&text, CreationText(host.devices(), plugin.path));
  if (plugin.next) absl::StrAppend(&text, NextPluggableText(*plugin.next));
  if (plugin.pjrt) {
    absl::StrAppend(&text, PjrtText(*plugin.pjrt, style),
                    PjrtDevicesText(host.devices(), plugin.path, style));
  }
  absl::StrAppend(&text, "  brings        ", Plural(plugin.kernels, "kernel"),
                  plugin.ops.empty() ? "" : absl::StrCat(", ops ", Listed(plugin.ops)),
                  plugin.pass ? ", a graph pass" : "", plugin.profiler ? ", a profiler" : "", "\n");
  if (plugin.resident)
    absl::StrAppend(&text, "  resident      its library stays in the process once it is loaded\n");
  for (const std::string& note : plugin.notes)
    absl::StrAppend(&text, "  order         ", note, "\n");
  for (const auto* warnings : {&plugin.warnings, &plugin.doubts}) {
    for (const std::string& warning : *warnings)
      absl::StrAppend(&text, "  ", style.Yellow("note"), "          ", warning, "\n");
  }
  return text;
}

struct DevicesFlags : CommonFlags {
  std::string kernels;  // "table", "markdown", or empty

  void Declare(Declarer& d) {
    DeclarePlugins(d);
    d.FlagWithValue("--kernels{table}", kernels, {"table", "markdown"},
                    "the op table: types and devices of every kernel; markdown: nothing else");
    DeclareTimeout(d);
    DeclareOutput(d);
  }
};

absl::Status Devices(const DevicesFlags& flags, Invocation& invocation) {
  absl::StatusOr<std::unique_ptr<Host>> host = Host::Open(flags);
  if (!host.ok()) {
    // The state of each plug-in says more than the first error.
    Json plugins = Json::Array();
    for (const PluginInfo& plugin : Plugins()) plugins.Push(PluginJson(plugin));
    invocation.doc.Set("devices", Json::Array()).Set("plugins", std::move(plugins));
    return host.status();
  }
  const std::string& form = flags.kernels;
  const std::vector<KernelRow> kernels = form.empty() ? std::vector<KernelRow>() : KernelRows();
  if (invocation.json()) {
    AddJson(**host, invocation.doc);
    if (!form.empty()) invocation.doc.Set("kernels", KernelsJson(kernels));
    return absl::OkStatus();
  }
  if (form == "markdown") {
    invocation.text = KernelsMarkdown(kernels);
    return absl::OkStatus();
  }
  invocation.text = DevicesText(**host, invocation.style);
  for (const PluginInfo& plugin : Plugins())
    invocation.text += PluginText(plugin, **host, invocation.style);
  if (!form.empty())
    absl::StrAppend(&invocation.text, "\n", KernelsText(kernels, invocation.style));
  return absl::OkStatus();
}

}  // namespace

extern const Command kDevicesCommand = {
    .name = "devices",
    .arguments = "",
    .fewest = 0,
    .most = 0,
    .what = "Devices, the plug-ins they come from, and what they can run.",
    .examples = {"graph_run devices", "graph_run devices --kernels"},
    .start = Start<DevicesFlags, Devices>,
};

}  // namespace tenon::cli
