#include "plugin/host/loading/open_plugin.h"

#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/float_mode.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/host/devices/next_pluggable_platform.h"
#include "plugin/host/devices/stream_executor.h"
#include "plugin/host/link/shared_library.h"
#include "plugin/host/loading/plugin_library.h"
#include "plugin/host/loading/profiler.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/kernels.h"

namespace tenon {
namespace {

// The entry points of a plug-in, in call order.
struct EntryPoints {
  decltype(SE_InitPlugin)* se_init = nullptr;
  const TFNPD_Api* (*init_next)(TFNPD_PluginParams*, TF_Status*) = nullptr;  // TFNPD_InitPlugin
  decltype(TF_InitKernel)* init_kernel = nullptr;
  decltype(TF_InitGraph)* init_graph = nullptr;
  decltype(TF_InitProfiler)* init_profiler = nullptr;
  pjrt::abi::GetApi* get_pjrt_api = nullptr;
};

// Looks up all entry points before the first is called: the list is reported also if one fails.
EntryPoints FindEntryPoints(void* handle, PluginInfo* info) {
  EntryPoints entries;
  const auto find = [&](const char* name, auto** fn) {
    *fn = FindFunction<std::remove_pointer_t<std::remove_pointer_t<decltype(fn)>>>(handle, name);
    if (*fn != nullptr) info->entry_points.push_back(name);
  };
  find("SE_InitPlugin", &entries.se_init);
  find("TFNPD_InitPlugin", &entries.init_next);
  find("TF_InitKernel", &entries.init_kernel);
  find("TF_InitGraph", &entries.init_graph);
  find("TF_InitProfiler", &entries.init_profiler);
  find("GetPjrtApi", &entries.get_pjrt_api);
  if (entries.get_pjrt_api != nullptr && entries.se_init != nullptr && entries.init_next == nullptr)
    info->warnings.push_back("GetPjrtApi is not called: SE_InitPlugin brings the devices");
  return entries;
}

// A library that stays mapped keeps what its TF_InitKernel made, and may not stand a second call
// (Intel's ends the process).
absl::Status CallInitKernel(void (*init)(), PluginLedger& ledger) {
  if (init == nullptr || ledger.library.kernels_registered) return absl::OkStatus();
  const std::string& path = ledger.path;
  TENON_RETURN_IF_ERROR(
      Prefixed(CallPlugin(path.c_str(), "TF_InitKernel", "", init), path, "TF_InitKernel"));
  ledger.library.kernels_registered = true;
  ledger.library.registrations = ledger.staged;
  return absl::OkStatus();
}

// The clients that a plug-in makes in TF_InitKernel need what this registers.
absl::Status LoadNextPluggable(const EntryPoints& entries, const PluginOptions& options,
                               PluginLedger& ledger) {
  if (entries.init_next == nullptr) return absl::OkStatus();
  pjrt::KeepOffNetwork(ledger.path);
  auto next = NextPluggablePlatform::Load(entries.init_next, entries.get_pjrt_api, ledger.path,
                                          options.client_options);
  if (!next.ok()) return Prefixed(next.status(), ledger.path, "TFNPD_InitPlugin");
  ledger.next = *std::move(next);
  if (ledger.next->client() == nullptr) {
    ledger.info.warnings.push_back(
        absl::StrCat("TFNPD_InitPlugin brings no devices: ", ledger.next->no_client()));
  } else {
    ledger.library.resident = true;  // as all libraries with PJRT
  }
  return absl::OkStatus();
}

// Enters what the entry points answer in the ledger. The pass is returned, since it is the only
// answer that is neither staged nor of use before it is registered.
absl::StatusOr<std::optional<PluginOptimizer>> CallEntryPoints(const EntryPoints& entries,
                                                               const PluginOptions& options,
                                                               PluginLedger& ledger) {
  const std::string& path = ledger.path;
  const FloatModeGuard float_mode(path);
  if (entries.se_init != nullptr) {
    auto platform = InitStreamExecutorPlugin(entries.se_init, path);
    if (!platform.ok()) return Prefixed(platform.status(), path, "SE_InitPlugin");
    ledger.platform = *std::move(platform);
  }
  TENON_RETURN_IF_ERROR(LoadNextPluggable(entries, options, ledger));
  TENON_RETURN_IF_ERROR(CallInitKernel(entries.init_kernel, ledger));
  std::optional<PluginOptimizer> pass;
  if (entries.init_graph != nullptr) {
    absl::StatusOr<PluginOptimizer> optimizer = InitPluginOptimizer(entries.init_graph, path);
    if (!optimizer.ok()) return Prefixed(optimizer.status(), path, "TF_InitGraph");
    pass = *std::move(optimizer);
  }
  if (entries.init_profiler != nullptr) {
    auto profiler = PluginProfiler::Init(entries.init_profiler, path);
    if (!profiler.ok()) return Prefixed(profiler.status(), path, "TF_InitProfiler");
    ledger.profiler = *std::move(profiler);
  }
  return pass;
}

// A library with another interface for devices brings none of this kind.
absl::Status LoadPjrt(const EntryPoints& entries, const PluginOptions& options,
                      PluginLedger& ledger) {
  if (entries.get_pjrt_api == nullptr || ledger.platform != nullptr || ledger.next != nullptr)
    return absl::OkStatus();
  auto plugin = pjrt::Plugin::Load(ledger.path, entries.get_pjrt_api,
                                   {options.device_type, options.client_options});
  if (!plugin.ok()) return Prefixed(plugin.status(), ledger.path, "GetPjrtApi");
  ledger.pjrt = *std::move(plugin);
  return absl::OkStatus();
}

// A library with both interfaces may give each a type of its own; at most one of them has devices.
std::set<std::string> OwnTypes(const PluginLedger& ledger) {
  std::set<std::string> types;
  if (ledger.platform != nullptr) types.insert(ledger.platform->type());
  if (ledger.next != nullptr) types.insert(ledger.next->type());
  return types;
}

// Renames what belongs to the plug-in's own device types.
absl::Status ServeAs(const std::string& type, PluginLedger& ledger,
                     std::optional<PluginOptimizer>& pass) {
  if (type.empty()) return absl::OkStatus();
  if (ledger.pjrt != nullptr) return absl::OkStatus();  // it has got the name
  if (ledger.platform == nullptr && ledger.next == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("plug-in ", ledger.path, ": it brings no devices that could be named ", type));
  }
  if (pass && OwnTypes(ledger).contains(pass->device_type)) pass->device_type = type;
  if (ledger.platform != nullptr) ledger.platform->ServeAs(type);
  if (ledger.next != nullptr) ledger.next->ServeAs(type);
  return absl::OkStatus();
}

// Any order would do: what is published when one step fails is in the ledger, to be dropped.
absl::Status PublishAll(PluginLedger& ledger, std::optional<PluginOptimizer> pass,
                        const PluginOptions& options) {
  PublishOptions publish;
  publish.priority = options.priority;
  publish.serve_as = options.device_type;
  publish.device_types = OwnTypes(ledger);
  TENON_RETURN_IF_ERROR(ServeAs(options.device_type, ledger, pass));
  if (pass) {
    TENON_RETURN_IF_ERROR(
        Prefixed(RegisterPluginOptimizer(*std::move(pass)), ledger.path, "TF_InitGraph"));
    ledger.info.pass = true;
  }
  return Prefixed(Publish(ledger, publish), ledger.path, "registration of ops");
}

// For the structs that the plug-in filled in.
std::vector<StructSize> StructSizes(const StreamExecutorPlatform* platform,
                                    const std::optional<PluginOptimizer>& pass,
                                    const PluginProfiler* profiler) {
  std::vector<StructSize> sizes;
  if (platform != nullptr) {
    sizes.push_back({"SP_Platform", platform->platform()->struct_size, SP_PLATFORM_STRUCT_SIZE});
    sizes.push_back(
        {"SP_PlatformFns", platform->platform_fns().struct_size, SP_PLATFORM_FNS_STRUCT_SIZE});
    sizes.push_back(
        {"SP_DeviceFns", platform->device_fns().struct_size, SP_DEVICE_FNS_STRUCT_SIZE});
    sizes.push_back(
        {"SP_StreamExecutor", platform->se().struct_size, SP_STREAMEXECUTOR_STRUCT_SIZE});
  }
  if (pass) {
    sizes.push_back({"TP_Optimizer", pass->fns.struct_size, TP_OPTIMIZER_STRUCT_SIZE});
    sizes.push_back(
        {"TP_OptimizerConfigs", pass->configs.struct_size, TP_OPTIMIZER_CONFIGS_STRUCT_SIZE});
  }
  if (profiler != nullptr) {
    sizes.push_back({"TP_Profiler", profiler->profiler()->struct_size, TP_PROFILER_STRUCT_SIZE});
    sizes.push_back({"TP_ProfilerFns", profiler->fns().struct_size, TP_PROFILER_FNS_STRUCT_SIZE});
  }
  return sizes;
}

pjrt::PluginFacts FactsOfTable(const pjrt::Api& api) {
  pjrt::PluginFacts facts;
  facts.table = api.facts();
  if (auto attributes = api.Attributes(); attributes.ok())
    facts.attributes = *std::move(attributes);
  return facts;
}

}  // namespace

absl::Status Prefixed(const absl::Status& status, std::string_view path, std::string_view call) {
  if (status.ok()) return status;
  return Annotate(status, absl::StrCat("plug-in ", path, ": ", call, ": "));
}

// Where a library has both interfaces, the devices tell which is in use; before there are any, the
// one that can have some.
void DescribeDevices(PluginLedger& ledger) {
  PluginInfo& info = ledger.info;
  const bool has_next = ledger.next != nullptr;
  bool is_next = has_next && (ledger.platform == nullptr || ledger.next->client() != nullptr);
  if (!ledger.devices.empty()) is_next = ledger.devices.front()->kind() == "next_pluggable";
  if (is_next) {
    info.kind = DeviceKind::kNextPluggable;
    info.device_type = ledger.next->type();
  } else if (ledger.platform != nullptr) {
    info.kind = DeviceKind::kPluggable;
    info.device_type = ledger.platform->type();
  } else if (ledger.pjrt != nullptr) {
    info.kind = DeviceKind::kPjrt;
    info.device_type = ledger.pjrt->type();
    info.pjrt = ledger.pjrt->facts();
  }
  if (!has_next) return;
  info.next = NextPluggableFacts{ledger.next->type(), ledger.next->compilation_device(),
                                 ledger.next->priority(), ledger.next->is_pluggable(),
                                 ledger.next->compiles_on_demand()};
  if (ledger.next->client() != nullptr) info.pjrt = FactsOfTable(ledger.next->client()->api());
}

// Opens the library and runs its code. On an error the caller drops what the ledger has by then.
absl::Status OpenPlugin(PluginLedger& ledger, const PluginOptions& options) {
  PluginInfo& info = ledger.info;
  TENON_RETURN_IF_ERROR(Prefixed(OpenPluginLibrary(ledger), ledger.path, "dlopen"));
  const EntryPoints entries = FindEntryPoints(ledger.library.handle, &info);
  TENON_ASSIGN_OR_RETURN(const std::optional<PluginOptimizer> pass,
                         CallEntryPoints(entries, options, ledger));
  TENON_RETURN_IF_ERROR(LoadPjrt(entries, options, ledger));
  // Before anything can fail further on: warnings outlive a failed load.
  for (const std::string& refused : ledger.staged.refused) info.warnings.push_back(refused);
  TENON_RETURN_IF_ERROR(PublishAll(ledger, pass, options));
  info.resident = ledger.library.resident;
  info.notes = KernelRegistry::Global().Precedence(ledger.path);
  info.profiler = ledger.profiler != nullptr;
  DescribeDevices(ledger);
  info.structs = StructSizes(ledger.platform.get(), pass, ledger.profiler.get());
  if (info.entry_points.empty() && info.ops.empty() && info.kernels == 0) {
    info.warnings.push_back("it exports no entry point and registered nothing: is this a plug-in?");
  }
  return absl::OkStatus();
}

}  // namespace tenon
