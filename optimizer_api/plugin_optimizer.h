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

// A plug-in's registration, copied out of the plug-in's structs. The functions are valid as long as
// the plug-in is loaded.
struct PluginOptimizer {
  std::string device_type;      // "APU", or the name that the user gives the plug-in's devices
  std::string plugin;           // path of the plug-in
  TP_Optimizer fns;             // optimize_func is set; the others may be null
  TP_OptimizerConfigs configs;  // members behind its struct_size are not set
};

// Calls `init`, the TF_InitGraph of `plugin`, with preset structs and validates its answer.
// Registers nothing. Errors: the status that the plug-in sets; FAILED_PRECONDITION, with
// TensorFlow's message, for a member that is not set; INTERNAL for an exception.
absl::StatusOr<PluginOptimizer> InitPluginOptimizer(void (*init)(TP_OptimizerRegistrationParams*,
                                                                 TF_Status*),
                                                    std::string plugin);

// --- The registry of the process. Thread-safe. An optimizer is in use while somebody holds a
// pointer that the registry has handed out, as a session does while it optimizes.

// Registers an optimizer. A plug-in may register one for each device type; for a second one
// ALREADY_EXISTS "PluginGraphOptimizer with device_type X is registered twice.". Optimizers of
// several plug-ins all run, in order of registration.
absl::Status RegisterPluginOptimizer(PluginOptimizer optimizer);
// Whether an optimizer of this plug-in (a path) is in use.
bool PluginOptimizersInUse(std::string_view plugin);
// Removes the optimizers of this plug-in from the registry. Returns whether one was in use: its
// functions may still be called, so the library must stay.
bool RemovePluginOptimizers(std::string_view plugin);
// The optimizers for the device types on which nodes of the graph are placed, or for the given
// device types; in order of registration. A type counts only where the node's device string has
// "device:TYPE".
std::vector<std::shared_ptr<const PluginOptimizer>> PluginOptimizersFor(const Graph& graph);
std::vector<std::shared_ptr<const PluginOptimizer>> PluginOptimizersFor(
    const absl::flat_hash_set<std::string_view>& device_types);

// Names of the built-in passes that the configurations of these optimizers switch off, each with a
// reason that names the plug-in. Names are those of TP_OptimizerConfigs' members (model_pruning for
// disable_model_pruning), of which some are no pass here. As in TensorFlow, one configuration is
// enough to switch a pass off. A pass appears once for each optimizer that switches it off.
std::vector<std::pair<std::string, std::string>> PassesSwitchedOff(
    absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers);

// Warns, as TensorFlow does, if not all of the optimizers switch off the same passes, and if one
// switches off a pass in `switched_on`: the passes that the user has switched on by name.
void WarnOfConfigs(absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers,
                   absl::Span<const std::string> switched_on);

// The facts about a graph for which a plug-in's pass may ask (TF_GrapplerItem).
struct OptimizerItem {
  // In order and with TensorFlow's names: "node:0" for a fetched tensor, "node" for a node that
  // only runs and, in the body of a function, for each of the results.
  std::vector<std::string> fetches;
  std::vector<std::string> feeds;         // node names
  absl::flat_hash_set<std::string> keep;  // further node names
  // In the body of a function, by number: the Placeholders that a pass sees as _Arg and must keep,
  // and the Identities that a pass sees as _Retval and that are fetched. kNoNode for one that the
  // body lacks.
  std::vector<NodeId> args, results;
  std::string function;  // the function's name; empty: no body
  // Computes values from constants for shape inference. Null: such values stay unknown.
  NodeEvaluator* evaluator = nullptr;
};

// The names of the optimizers' passes in reports, one for each in their order: "plugin:APU";
// "plugin:APU:libx.so" where several of them are for the type; with the whole path where the files
// have the same name.
std::vector<std::string> NamesOfPasses(
    absl::Span<const std::shared_ptr<const PluginOptimizer>> optimizers);

// Makes the pass of an optimizer, for the graph that `item` describes. A run is a transaction:
// export, optimize_func, import, verify (structure, fetches with unchanged types, kernels,
// devices), then adopt the answer or keep the graph of before. An answer equal to what the pass got
// changes nothing. A colocation with a node that the pass removed is no fault. Errors name the
// plug-in: those of its callbacks (ABORTED is its word for "not changed", and no error),
// INVALID_ARGUMENT for an answer that does not verify (answer_checks.h, body_ends.h), and
// RESOURCE_EXHAUSTED for an answer for which memory is short.
//
// Each FinalPass has one optimizer object of the plug-in, if the plug-in has a create_func: the
// first run makes it, or a later one if create_func fails, and the pass's destructor calls
// destroy_func, with a warning if that fails. For one thread at a time. `kernels` and the item's
// evaluator must outlive the pass.
std::unique_ptr<FinalPass> MakePluginPass(std::string name,
                                          std::shared_ptr<const PluginOptimizer> optimizer,
                                          OptimizerItem item, const KernelOracle* kernels);

// The bytes of the graph on which a plug-in's pass works on this thread, or else on any thread;
// null if no pass runs. On another thread the pass may end at any time, and its graph with it. Safe
// to call from a signal handler.
const std::string* GraphInPluginPass();

}  // namespace tenon
