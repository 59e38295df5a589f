#include "executor/cli/plugins/pjrt_report.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/one_line.h"
#include "plugin/host/devices/pluggable_device.h"
#include "plugin/pjrt/pjrt_device.h"

namespace tenon::cli {
namespace {

Json PairsJson(const std::vector<pjrt::NameAndText>& pairs) {
  Json object = Json::Object();
  for (const auto& [name, text] : pairs) object.Set(name, text);
  return object;
}

std::string PairsText(const std::vector<pjrt::NameAndText>& pairs) {
  return absl::StrJoin(pairs, ", ", [](std::string* out, const pjrt::NameAndText& pair) {
    absl::StrAppend(out, OneLine(pair.first), " ", OneLine(pair.second));
  });
}

std::string VersionOf(const pjrt::TableFacts& table) {
  return absl::StrCat(table.major, ".", table.minor);
}

void AddFactLine(std::string_view title, std::string_view what, std::string& text) {
  constexpr size_t kColumn = 14;
  std::string padded(title);
  padded.resize(kColumn, ' ');
  if (!what.empty()) absl::StrAppend(&text, "  ", padded, what, "\n");
}

}  // namespace

Json PjrtJson(const pjrt::PluginFacts& facts) {
  Json json = Json::Object();
  json.Set("version", VersionOf(facts.table))
      .Set("table_bytes", static_cast<int64_t>(facts.table.struct_size))
      .Set("functions", static_cast<int64_t>(facts.table.functions))
      .Set("holes", Json::ArrayOf(facts.table.holes))
      .Set("extensions", Json::ArrayOf(facts.table.extensions))
      .Set("attributes", PairsJson(facts.attributes))
      .Set("warnings", Json::ArrayOf(facts.table.warnings))
      .Set("platform", facts.platform_name)
      .Set("platform_version", facts.platform_version)
      .Set("no_devices", facts.no_devices);
  return json;
}

std::string PjrtText(const pjrt::PluginFacts& facts, const Style& style) {
  std::string text;
  AddFactLine("PJRT",
              absl::StrCat("version ", VersionOf(facts.table), ", ",
                           Plural(static_cast<int64_t>(facts.table.functions), "function")),
              text);
  if (!facts.table.holes.empty())
    AddFactLine("holes", absl::StrJoin(facts.table.holes, ", "), text);
  AddFactLine("extensions", absl::StrJoin(facts.table.extensions, ", "), text);
  AddFactLine("attributes", PairsText(facts.attributes), text);
  if (!facts.platform_name.empty()) {
    AddFactLine("platform", absl::StrCat(facts.platform_name, ", ", facts.platform_version), text);
  }
  AddFactLine("no devices", OneLine(facts.no_devices), text);
  for (const std::string& warning : facts.table.warnings)
    absl::StrAppend(&text, "  ", style.Yellow("note"), "          ", OneLine(warning), "\n");
  return text;
}

Json NextPluggableJson(const NextPluggableFacts& facts) {
  Json json = Json::Object();
  json.Set("device_type", facts.device_type)
      .Set("compilation_device", facts.compilation_device)
      .Set("priority", facts.priority)
      .Set("is_pluggable_device", facts.is_pluggable)
      .Set("on_demand_compile", facts.compiles_on_demand);
  return json;
}

std::string NextPluggableText(const NextPluggableFacts& facts) {
  std::string text;
  AddFactLine("next device",
              absl::StrCat(OneLine(facts.device_type), ", priority ", facts.priority,
                           facts.compilation_device.empty() ? "" : ", compiler ",
                           OneLine(facts.compilation_device),
                           facts.is_pluggable ? ", copies within a device itself" : "",
                           facts.compiles_on_demand ? ", wants ops compiled on demand" : ""),
              text);
  return text;
}

std::vector<std::string> CreationLog(absl::Span<Device* const> devices, std::string_view plugin) {
  std::vector<std::string> lines;
  std::map<std::string_view, int> next;  // by type
  for (const Device* device : devices) {
    if (device->plugin() != plugin) continue;
    if (device->kind() == "next_pluggable") ++next[device->type()];
    if (device->kind() != "pluggable") continue;
    const DeviceFacts* const facts = FactsOf(*device);
    const bool has_bus = facts != nullptr && !facts->pci_bus_id.empty();
    lines.push_back(
        absl::StrCat("Created TensorFlow device (", device->full_name(), " with ",
                     device->memory_bytes() / (int64_t{1} << 20),
                     " MB memory) -> physical PluggableDevice (device: ", device->ordinal(),
                     ", name: ", device->type(),
                     ", pci bus id: ", has_bus ? OneLine(facts->pci_bus_id) : "<undefined>", ")"));
  }
  for (const auto& [type, count] : next) {
    lines.push_back(absl::StrCat("Created ", count,
                                 " TensorFlow NextPluggableDevices. Physical device type: ", type));
  }
  return lines;
}

std::string CreationText(absl::Span<Device* const> devices, std::string_view plugin) {
  std::string text;
  for (const std::string& line : CreationLog(devices, plugin)) AddFactLine("log", line, text);
  return text;
}

void AddPjrtDevice(const Device& device, Json& json) {
  const pjrt::PjrtDevice* const pjrt = pjrt::AsPjrt(&device);
  if (pjrt == nullptr) return;
  const pjrt::DeviceInfo& info = pjrt->info();
  json.Set("hardware", info.kind)
      .Set("description", info.text)
      .Set("id", info.id)
      .Set("local_hardware_id", info.local_hardware_id)
      .Set("memories", Json::ArrayOf(info.memories))
      .Set("default_memory", info.default_memory)
      .Set("attributes", PairsJson(info.attributes));
}

std::string PjrtDevicesText(absl::Span<Device* const> devices, std::string_view plugin,
                            const Style& style) {
  std::string text;
  for (const Device* device : devices) {
    const pjrt::PjrtDevice* const pjrt = pjrt::AsPjrt(device);
    if (pjrt == nullptr || pjrt->plugin() != plugin) continue;
    const pjrt::DeviceInfo& info = pjrt->info();
    absl::StrAppend(&text, "  ", style.Bold(device->short_name()), "  ", OneLine(info.kind),
                    ", id ", info.id);
    if (!info.memories.empty()) {
      absl::StrAppend(&text, "; memories ", OneLine(absl::StrJoin(info.memories, ", ")),
                      " (default: ", OneLine(info.default_memory), ")");
    }
    absl::StrAppend(&text, "; limit ", info.bytes_limit ? Bytes(*info.bytes_limit) : "not told",
                    "\n");
  }
  return text;
}

}  // namespace tenon::cli
