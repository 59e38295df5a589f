// TF_InitGraph's answer, the registry of optimizers, and how their configurations merge.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <mutex>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/struct_size.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {
namespace {

absl::Status MissingField(std::string_view field, std::string_view in) {
  return absl::FailedPreconditionError(
      absl::StrCat("'", field, "' field in ", in, " must be set."));
}

absl::Status CheckStructSize(size_t size, std::string_view name, std::string_view macro) {
  WatchStructSize(size, name, macro);
  if (size != 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("struct_size field in ", name, " must be set to ", macro, "."));
}

// Checks in TensorFlow's order: the first check that fails makes the message.
absl::Status Validate(const TP_OptimizerRegistrationParams& params, const TP_Optimizer& optimizer,
                      const TP_OptimizerConfigs& configs) {
  TENON_RETURN_IF_ERROR(CheckStructSize(params.struct_size, "TP_OptimizerRegistrationParams",
                                        "TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE"));
  if (params.device_type == nullptr)
    return MissingField("device_type", "TP_OptimizerRegistrationParams");
  TENON_RETURN_IF_ERROR(
      CheckStructSize(optimizer.struct_size, "TP_Optimizer", "TP_OPTIMIZER_STRUCT_SIZE"));
  if (optimizer.optimize_func == nullptr) return MissingField("optimize_func", "TP_Optimizer");
  return CheckStructSize(configs.struct_size, "TP_OptimizerConfigs",
                         "TP_OPTIMIZER_CONFIGS_STRUCT_SIZE");
}

struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<const PluginOptimizer>> optimizers;
};

Registry& TheRegistry() {
  // Never destroyed: plug-ins and sessions may ask until the process ends.
  static Registry* const registry = new Registry;
  return *registry;
}

// To be called under the registry's lock: nobody can then take another reference. The registry
// itself holds one.
bool AnyInUse(const Registry& registry, std::string_view plugin) {
  return std::any_of(registry.optimizers.begin(), registry.optimizers.end(),
                     [&](const auto& o) { return o->plugin == plugin && o.use_count() > 1; });
}

// The members of TP_OptimizerConfigs that name one of our passes.
struct ConfigField {
  std::string_view pass;
  size_t offset;
};
#define TENON_CONFIG(name) \
  { #name, offsetof(TP_OptimizerConfigs, name) }
constexpr ConfigField kConfigFields[] = {
    TENON_CONFIG(implementation_selector),
    TENON_CONFIG(function_optimization),
    TENON_CONFIG(common_subgraph_elimination),
    TENON_CONFIG(arithmetic_optimization),
    TENON_CONFIG(debug_stripper),
    TENON_CONFIG(constant_folding),
    TENON_CONFIG(shape_optimization),
    TENON_CONFIG(auto_mixed_precision),
    TENON_CONFIG(auto_mixed_precision_onednn_bfloat16),
    TENON_CONFIG(auto_mixed_precision_mkl),
    TENON_CONFIG(pin_to_host_optimization),
    TENON_CONFIG(layout_optimizer),
    TENON_CONFIG(remapping),
    TENON_CONFIG(loop_optimization),
    TENON_CONFIG(dependency_optimization),
    TENON_CONFIG(auto_parallel),
    TENON_CONFIG(memory_optimization),
    TENON_CONFIG(scoped_allocator_optimization),
};
#undef TENON_CONFIG

// The member at this offset. One that the plug-in's header did not have yet, by its struct_size,
// counts as default.
TF_TriState FieldOf(const TP_OptimizerConfigs& configs, size_t offset) {
  if (configs.struct_size < offset + sizeof(TF_TriState)) return TF_TriState_Default;
  TF_TriState value;
  std::memcpy(&value, reinterpret_cast<const char*>(&configs) + offset, sizeof(value));
  return value;
}

// "APU" of "/job:localhost/replica:0/task:0/device:APU:0".
std::string_view DeviceTypeOf(std::string_view device) {
  constexpr std::string_view kKey = "device:";
  const size_t at = device.rfind(kKey);
  if (at == std::string_view::npos) return {};
  const std::string_view type = device.substr(at + kKey.size());
  return type.substr(0, type.find(':'));
}

}  // namespace

absl::StatusOr<PluginOptimizer> InitPluginOptimizer(void (*init)(TP_OptimizerRegistrationParams*,
                                                                 TF_Status*),
                                                    std::string plugin) {
  // A plug-in built against a newer header may write members behind those that are known here.
  Padded<TP_Optimizer> optimizer;
  Padded<TP_OptimizerConfigs> configs;
  Padded<TP_OptimizerRegistrationParams> params;
  optimizer.value.struct_size = PresetStructSize(TP_OPTIMIZER_STRUCT_SIZE);
  configs.value.struct_size = PresetStructSize(TP_OPTIMIZER_CONFIGS_STRUCT_SIZE);
  params.value.struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params.value.major_version = GO_MAJOR;
  params.value.minor_version = GO_MINOR;
  params.value.patch_version = GO_PATCH;
  params.value.optimizer = &optimizer.value;
  params.value.optimizer_configs = &configs.value;
  CStatus status;
  TENON_RETURN_IF_ERROR(
      CallPlugin(plugin.c_str(), "TF_InitGraph", "", [&] { init(&params.value, status.get()); }));
  TENON_RETURN_IF_ERROR(status.ToStatus());
  {
    // Validate follows pointers that the plug-in wrote: a fault there is reported as the plug-in's.
    const CallbackScope filled_by(plugin.c_str(), "TF_InitGraph");
    TENON_RETURN_IF_ERROR(Validate(params.value, optimizer.value, configs.value));
  }
  return PluginOptimizer{params.value.device_type, std::move(plugin), optimizer.value,
                         configs.value};
}

absl::Status RegisterPluginOptimizer(PluginOptimizer optimizer) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  for (const auto& other : registry.optimizers) {
    if (other->device_type == optimizer.device_type && other->plugin == optimizer.plugin) {
      return absl::AlreadyExistsError(absl::StrCat("PluginGraphOptimizer with device_type ",
                                                   optimizer.device_type, " is registered twice."));
    }
  }
  registry.optimizers.push_back(std::make_shared<const PluginOptimizer>(std::move(optimizer)));
  return absl::OkStatus();
}

bool PluginOptimizersInUse(std::string_view plugin) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  return AnyInUse(registry, plugin);
}

bool RemovePluginOptimizers(std::string_view plugin) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  // Asked before they go: afterwards nobody knows them.
  const bool in_use = AnyInUse(registry, plugin);
  std::erase_if(registry.optimizers, [&](const auto& o) { return o->plugin == plugin; });
  return in_use;
}

std::vector<std::shared_ptr<const PluginOptimizer>> PluginOptimizersFor(const Graph& graph) {
  absl::flat_hash_set<std::string_view> types;
  // Neighbours mostly have equal device strings: few are taken apart.
  std::string_view last;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || graph.device(n) == last) continue;
    last = graph.device(n);
    types.insert(DeviceTypeOf(last));
  }
  return PluginOptimizersFor(types);
}

std::vector<std::shared_ptr<const PluginOptimizer>> PluginOptimizersFor(
    const absl::flat_hash_set<std::string_view>& types) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  std::vector<std::shared_ptr<const PluginOptimizer>> found;
  for (const auto& o : registry.optimizers) {
    if (types.contains(o->device_type)) found.push_back(o);
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> PassesSwitchedOff(
    absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers) {
  std::vector<std::pair<std::string, std::string>> off;
  for (const auto& o : optimizers) {
    const std::string why =
        absl::StrCat("switched off by the optimizer for ", o->device_type, " of ", o->plugin);
    if (FieldOf(o->configs, offsetof(TP_OptimizerConfigs, disable_model_pruning)) == TF_TriState_On)
      off.emplace_back("model_pruning", why);
    for (const ConfigField& field : kConfigFields) {
      if (FieldOf(o->configs, field.offset) == TF_TriState_Off) off.emplace_back(field.pass, why);
    }
  }
  return off;
}

void WarnOfConfigs(absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers,
                   absl::Span<const std::string> switched_on) {
  std::vector<std::string> lists, told;
  for (const auto& o : optimizers) {
    std::vector<std::string> passes;
    for (const auto& [pass, why] : PassesSwitchedOff({&o, 1})) {
      passes.push_back(pass);
      if (std::find(switched_on.begin(), switched_on.end(), pass) == switched_on.end()) continue;
      WarnOf(absl::FailedPreconditionError(absl::StrCat(
          "User's config has been changed based on plugin's config: ", pass, " is ", why)));
    }
    lists.push_back(absl::StrJoin(passes, ", "));
    told.push_back(absl::StrCat("[", lists.back(), "] by ", o->plugin));
  }
  if (std::adjacent_find(lists.begin(), lists.end(), std::not_equal_to<>()) == lists.end()) return;
  WarnOf(absl::FailedPreconditionError(
      absl::StrCat("Plugins have conflicting configs. Potential performance regression may happen: "
                   "switched off are ",
                   absl::StrJoin(told, ", "))));
}

}  // namespace tenon
