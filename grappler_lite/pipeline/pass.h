// What a built-in pass is, and what it may ask of its surroundings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/ir/new_attrs.h"
#include "graph/shapes/shape_inference.h"
#include "graph/tensor/tensor.h"
#include "grappler_lite/pipeline/rewrite_gate.h"
#include "grappler_lite/target/target.h"

namespace tenon {

// Runs one node's kernel on constants. The executor implements it; grappler_lite knows no kernels.
class NodeEvaluator {
 public:
  virtual ~NodeEvaluator() = default;
  // Outputs of node n for these input values, computed by the CPU kernel exactly as a run would.
  // UNIMPLEMENTED when there is no kernel; RESOURCE_EXHAUSTED when the outputs, with the text of
  // strings, would be larger than `max_bytes`, which is found out without computing them where
  // their shapes are known, else with no more memory than that and some; an error of the kernel is
  // returned. The pass then leaves the node as it is.
  virtual absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph, NodeId n,
                                                       absl::Span<const Tensor> inputs,
                                                       size_t max_bytes) = 0;
};

// Which device has a kernel for what. The executor implements it over the kernel registry.
class KernelOracle {
 public:
  virtual ~KernelOracle() = default;
  // Whether `device` (a full or partial device string; empty: CPU) has a kernel for this op and
  // these attributes.
  virtual bool HasKernel(std::string_view device, std::string_view op,
                         const AttrSet& attrs) const = 0;
  // Whether the kernel of a node on a device that is not the CPU wants an input, or gives an
  // output, in the host's memory.
  virtual bool InputOnHost(const Graph& /*graph*/, NodeId /*n*/, int /*input*/) const {
    return false;
  }
  virtual bool OutputOnHost(const Graph& /*graph*/, NodeId /*n*/, int /*port*/) const {
    return false;
  }
};

// Puts the bodies of called functions into a graph. The executor implements it; grappler_lite knows
// no bodies.
class CallInliner {
 public:
  virtual ~CallInliner() = default;
  // Inlines the calls that a run needs, those in their bodies too, each if `allow` says so. Whether
  // there were any. On an error the graph is not to be used any more.
  virtual absl::StatusOr<bool> InlineCalls(Graph& graph, absl::FunctionRef<bool()> allow) = 0;
  // Another that goes on from here by itself, to try things.
  virtual std::unique_ptr<CallInliner> Fork() const = 0;
  // Where calls stayed because they would be too many nodes: how many may be made. Else empty.
  virtual std::string BudgetSpent() const = 0;
};

// Whether the device of a node of this name is for others to say: for the graph or a flag that asks
// for it, or for who calls the function that the node stands in.
using HasFixedDevice = std::function<bool(std::string_view node)>;

// Numeric honesty of a rewrite. kExact: same bits for every input. kToleranced: stays within a
// model's tolerance and never makes or hides a NaN or infinity. kLowPrecision: the same, but that
// values are rounded as those of 16 bits are. kFastMath: reassociation and the like; off unless
// asked for.
enum class Exactness : uint8_t { kExact, kToleranced, kLowPrecision, kFastMath };

// A rewrite as a pass declares it. The full name, "constant_folding.fold", has the pass in front.
struct RewriteInfo {
  std::string_view name;
  Exactness exactness;
};

// A number that a pass takes, as in --passes='constant_folding(max_bytes=10MB)'.
struct PassOption {
  std::string_view name;
  int64_t otherwise;  // where nothing is said
  std::string_view what;
};
using PassArguments = absl::flat_hash_map<std::string, int64_t>;

// What one pass run sees. Lives for one pipeline run.
struct PassContext {
  Graph& graph;
  // Nodes that must stay, with name and meaning: fetches, feeds, and what running needs. By node
  // id.
  const absl::flat_hash_set<NodeId>& preserve;
  // Nodes that are fed: their own computation never runs, their value is not constant.
  const absl::flat_hash_set<NodeId>& feeds;
  absl::Span<const Output> fetches;
  NodeEvaluator& evaluator;
  const KernelOracle& kernels;
  RewriteGate& gate;
  GraphShapes& shapes;  // as they were when a pass last asked for them: see InferShapes
  const PassArguments& arguments;
  bool fast_math = false;
  Target target;
  CallInliner* inliner = nullptr;                // null: calls stay
  const HasFixedDevice* fixed_device = nullptr;  // null: no node has one
  // Nodes that do the work of others whose devices are fixed; by name. Null as above.
  absl::flat_hash_set<std::string>* also_fixed = nullptr;
  // For which device nodes are that ask for none: for the caller's, in the body of a function.
  // Empty: nobody says.
  std::string_view caller_device;

  bool IsFixed(NodeId n) const {
    return fixed_device != nullptr &&
           ((*fixed_device)(graph.name(n)) || also_fixed->contains(graph.name(n)));
  }
  // n is to stay where it is.
  void Fix(NodeId n) { also_fixed->emplace(graph.name(n)); }
  // Counts one application of a named rewrite at node n (none: of the whole graph) and says whether
  // it may be done: not switched off, not beyond a limit. Call it right before changing the graph.
  // `rewrite` is the part after the pass's name: "remove_redundant_cast".
  bool Allow(std::string_view rewrite, NodeId n = kNoNode) { return gate.Allow(graph, rewrite, n); }
  // Counts one look at a node: false when the pass has looked at as many as it may. What is begun
  // then is brought to an end, and nothing more is looked for.
  bool Visit() { return gate.Visit(); }
  // Whether n's device, and who else is to run the result, has a kernel for an op with these
  // attributes, or for a Const of this type. `grouped`: it may convolve groups of channels.
  bool HasKernel(NodeId n, std::string_view op, const NewAttrs& attrs, bool grouped = false) const;
  bool HasConstKernel(NodeId n, DataType type) const;
  // What --passes says of one of the pass's options.
  int64_t Argument(const PassOption& option) const {
    const auto it = arguments.find(option.name);
    return it == arguments.end() ? option.otherwise : it->second;
  }
};

// A pass keeps every node's device (but for pin_to_host_optimization, whose work that is), merges
// no nodes of different devices, makes no op for which the node's device has no kernel, and leaves
// ids of surviving nodes alone.
class Pass {
 public:
  virtual ~Pass() = default;
  // Everything that Run may ask PassContext::Allow for.
  virtual std::vector<RewriteInfo> rewrites() const = 0;
  virtual std::vector<PassOption> options() const { return {}; }
  // Whether the graph changed. On an error the pipeline restores the graph of before.
  virtual absl::StatusOr<bool> Run(PassContext& context) = 0;
};

using PassFactory = std::unique_ptr<Pass> (*)();
std::unique_ptr<Pass> MakeFunctionOptimization();
std::unique_ptr<Pass> MakeFunctionSpecialization();
std::unique_ptr<Pass> MakeModelPruning();
std::unique_ptr<Pass> MakeConstantFolding();
std::unique_ptr<Pass> MakeCommonSubgraphElimination();
std::unique_ptr<Pass> MakeArithmeticOptimization();
std::unique_ptr<Pass> MakeAutoMixedPrecisionBfloat16();
std::unique_ptr<Pass> MakeLayoutOptimizer();
std::unique_ptr<Pass> MakeRemapping();
std::unique_ptr<Pass> MakeDependencyOptimization();
std::unique_ptr<Pass> MakeDebugStripper();
std::unique_ptr<Pass> MakeShapeOptimization();
std::unique_ptr<Pass> MakeLoopOptimization();
std::unique_ptr<Pass> MakePinToHostOptimization();
std::unique_ptr<Pass> MakeImplementationSelector();

// The pass order, as data: one line per built-in pass (grappler_lite/pipeline/pass_order.cc).
struct PassEntry {
  std::string_view name;
  PassFactory make;
  std::string_view what;      // one line for --list-passes
  bool brings_nodes = false;  // runs once, before nodes are placed
  std::string_view off = {};  // why it does not run unless asked for, or at all: it has no rewrites
  // The RewriterConfig field that switches it; empty: the one of its name. Whoever names the field
  // means every pass that it switches.
  std::string_view field = {};
};
absl::Span<const PassEntry> PassOrder();

// INVALID_ARGUMENT, with the closest known one, for a name that no pass has, in the pass order or
// among `custom`. "plugin:…" is accepted: plug-ins' passes are only known when a graph is placed.
absl::Status CheckPassName(std::string_view name, absl::Span<const PassEntry> custom = {});
// The same for a rewrite's full name.
absl::Status CheckRewriteName(std::string_view name, absl::Span<const PassEntry> custom = {});

}  // namespace tenon
