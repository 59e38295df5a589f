// The graph pass of a plug-in. The plug-in registers it through TF_InitGraph. The pass works on the
// bytes of a GraphDef, and the host adopts its answer only if the answer verifies.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

namespace tenon {

// A plug-in's registration, copied out of the plug-in's structs.
struct PluginOptimizer {
  std::string device_type;
  std::string plugin;  // path of the plug-in
  TP_Optimizer fns;
  TP_OptimizerConfigs configs;
};

// Calls TF_InitGraph with preset structs and validates its answer. Error messages are TensorFlow's.
// Registers nothing.
absl::StatusOr<PluginOptimizer> InitPluginOptimizer(void (*init)(TP_OptimizerRegistrationParams*,
                                                                 TF_Status*),
                                                    std::string plugin);

// Registers an optimizer in the process. A plug-in may register one for each device type; for a
// second one ALREADY_EXISTS "PluginGraphOptimizer with device_type X is registered twice.".
// Optimizers of several plug-ins all run, in order of registration.
absl::Status RegisterPluginOptimizer(PluginOptimizer optimizer);
bool PluginOptimizersInUse(std::string_view plugin);   // whether a session is optimizing with one
bool RemovePluginOptimizers(std::string_view plugin);  // returns whether one is still in use
// The optimizers for the device types on which nodes of the graph are placed.
std::vector<std::shared_ptr<const PluginOptimizer>> PluginOptimizersFor(const Graph& graph);
std::vector<std::shared_ptr<const PluginOptimizer>> PluginOptimizersFor(
    const absl::flat_hash_set<std::string_view>& device_types);

// Names of the built-in passes that the configurations of these optimizers switch off, each with a
// reason that names the plug-in. Configurations are merged as TensorFlow merges them.
std::vector<std::pair<std::string, std::string>> PassesSwitchedOff(
    absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers);

// Warns, as TensorFlow does, where configurations of several plug-ins differ, and where one
// switches off a pass that the user has switched on by name.
void WarnOfConfigs(absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers,
                   absl::Span<const std::string> switched_on);

// The facts about a graph for which a plug-in's pass may ask (TF_GrapplerItem).
struct OptimizerItem {
  // In order and with TensorFlow's names: "node:0" for a fetched tensor, "node" for a node that
  // only runs.
  std::vector<std::string> fetches;
  std::vector<std::string> feeds;         // node names
  absl::flat_hash_set<std::string> keep;  // further node names
  // In the body of a function, by number: the Placeholders that a pass sees as _Arg and must keep,
  // and the Identities that a pass sees as _Retval and that are fetched. kNoNode for one that the
  // body lacks.
  std::vector<NodeId> args, results;
  std::string function;  // the function's name
  // Computes values from constants for shape inference. Null: such values stay unknown.
  NodeEvaluator* evaluator = nullptr;
};

// The names of the optimizers' passes in reports: "plugin:APU"; "plugin:APU:libx.so" where several
// plug-ins have an optimizer for the type; with the whole path where the files have the same name.
std::vector<std::string> NamesOfPasses(
    absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers);

// Makes the pass of an optimizer. A run is a transaction: export, optimize_func, import, verify
// (structure, fetches with unchanged types, kernels, devices), then adopt the answer or keep the
// graph of before; the row of the report says which. Each FinalPass has one optimizer object of the
// plug-in, from create_func to destroy_func. `kernels` must outlive the pass.
std::unique_ptr<FinalPass> MakePluginPass(std::string name,
                                          std::shared_ptr<const PluginOptimizer> optimizer,
                                          OptimizerItem item, const KernelOracle* kernels);

// The bytes of the graph on which a plug-in's pass is working; null if no pass is. Safe to call
// from a signal handler.
const std::string* GraphInPluginPass();

}  // namespace tenon
