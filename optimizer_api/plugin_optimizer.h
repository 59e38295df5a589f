// The graph pass of a plug-in: registered through TF_InitGraph, run on bytes, adopted only if it
// verifies.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

namespace tenon {

// What a plug-in registered; copied out of its structs.
struct PluginOptimizer {
  std::string device_type;
  std::string plugin;  // path
  TP_Optimizer fns;
  TP_OptimizerConfigs configs;
};

// Calls TF_InitGraph with preset structs and validates what it answers; messages are TensorFlow's.
// Registers nothing.
absl::StatusOr<PluginOptimizer> InitPluginOptimizer(void (*init)(TP_OptimizerRegistrationParams*,
                                                                 TF_Status*),
                                                    std::string plugin);

// One optimizer per plug-in and device type; ALREADY_EXISTS "PluginGraphOptimizer with device_type
// X is registered twice.". Those of several plug-ins all run, in order of registration.
absl::Status RegisterPluginOptimizer(PluginOptimizer optimizer);
bool PluginOptimizersInUse(std::string_view plugin);   // by a session that is optimizing
bool RemovePluginOptimizers(std::string_view plugin);  // whether they are still in use
// Those whose device type some node of the graph is placed on.
std::vector<std::shared_ptr<const PluginOptimizer>> PluginOptimizersFor(const Graph& graph);
std::vector<std::shared_ptr<const PluginOptimizer>> PluginOptimizersFor(
    const absl::flat_hash_set<std::string_view>& device_types);

// Names of built-in passes that these optimizers' configs switch off, with the plug-in to blame;
// merged as TensorFlow merges them.
std::vector<std::pair<std::string, std::string>> PassesSwitchedOff(
    absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers);

// Warns where configs of several plug-ins differ, and where one switches off what the user has
// switched on by name, as TensorFlow does.
void WarnOfConfigs(absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers,
                   absl::Span<const std::string> switched_on);

// What a pass may ask about the graph it works on (TF_GrapplerItem).
struct OptimizerItem {
  // In order: "node:0" of a tensor, "node" of a node that is only run. As TensorFlow names them.
  std::vector<std::string> fetches;
  std::vector<std::string> feeds;         // node names
  absl::flat_hash_set<std::string> keep;  // further node names
  // Of the body of a function, by number: Placeholders and Identities, which a pass sees as _Arg
  // and _Retval; kNoNode for one that the body does not have. Arguments are kept, results fetched.
  std::vector<NodeId> args, results;
  std::string function;  // its name
  // Computes what a pass wants to know of constants; null: nobody does.
  NodeEvaluator* evaluator = nullptr;
};

// What the report calls their passes: "plugin:APU"; "plugin:APU:libx.so" where several plug-ins
// have one for a type, with the whole path where files have the same name.
std::vector<std::string> NamesOfPasses(
    absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers);

// The pass as a transaction: export, optimize_func, import, verify (structure, fetches with
// unchanged types, kernels, devices), adopt or keep the graph of before. The report row says which.
// One optimizer object (create_func … destroy_func) per FinalPass object.
std::unique_ptr<FinalPass> MakePluginPass(std::string name,
                                          std::shared_ptr<const PluginOptimizer> optimizer,
                                          OptimizerItem item, const KernelOracle* kernels);

// The bytes of the graph that the pass of a plug-in is working on; null if none is. Safe to call
// from a signal handler.
const std::string* GraphInPluginPass();

}  // namespace tenon
