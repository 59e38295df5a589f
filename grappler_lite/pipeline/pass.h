// The interface of a built-in pass, and the interfaces through which a pass asks about kernels,
// devices and calls. One pipeline run uses one thread; nothing here is thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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

// Runs the kernel of one node on constants. The executor implements this interface, since
// grappler_lite knows no kernels.
class NodeEvaluator {
 public:
  virtual ~NodeEvaluator() = default;
  // Computes all outputs of node n for these input values, one for each data input, with the CPU
  // kernel and the same bits as a run. Errors:
  //   UNIMPLEMENTED       there is no kernel, or op or kernel is stateful;
  //   RESOURCE_EXHAUSTED  the outputs, with the text of strings, would exceed `max_bytes`, or all
  //                       memory of the kernel would exceed `max_bytes` plus 64 MiB. Where shapes
  //                       tell that the outputs are too large, nothing is computed;
  //   any other           the kernel failed.
  // On any error the pass leaves the node as it is.
  virtual absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph, NodeId n,
                                                       absl::Span<const Tensor> inputs,
                                                       size_t max_bytes) = 0;
};

// Tells which device has a kernel for an op. The executor implements this interface over the kernel
// registry.
class KernelOracle {
 public:
  virtual ~KernelOracle() = default;
  // Whether `device` (a full or partial device string; empty: CPU) has a kernel for this op and
  // these attributes. Defaults of the op count for attributes that are missing. An op that the plan
  // carries out itself counts as one with a kernel. For a device that this process does not have,
  // the answer is true for Const alone.
  virtual bool HasKernel(std::string_view device, std::string_view op,
                         const AttrSet& attrs) const = 0;
  // For a node on a device other than the CPU: whether the kernel reads the input from, or writes
  // the output to, the host's memory.
  virtual bool InputOnHost(const Graph& /*graph*/, NodeId /*n*/, int /*input*/) const {
    return false;
  }
  virtual bool OutputOnHost(const Graph& /*graph*/, NodeId /*n*/, int /*port*/) const {
    return false;
  }
};

// Replaces calls by the bodies of the called functions. The executor implements this interface,
// since grappler_lite cannot inline. One inliner serves one graph.
class CallInliner {
 public:
  virtual ~CallInliner() = default;
  // Inlines calls of functions that a run needs, and the calls in the inlined bodies; branches and
  // loops stay. Asks `allow` right before each call is inlined, when nothing else prevents it;
  // where `allow` says false this call stays, and the others are still tried. `allow` is not kept.
  // A call that is fed, marked for XLA or marked to stay is never inlined. Returns whether a call
  // was inlined. Called again, looks at the calls that are left. After an error the graph is
  // unusable.
  virtual absl::StatusOr<bool> InlineCalls(Graph& graph, absl::FunctionRef<bool()> allow) = 0;
  // Returns a copy with the same state, for a replay of the pass on a copy of the graph: the two
  // inliners do not affect each other.
  virtual std::unique_ptr<CallInliner> Fork() const = 0;
  // Returns the limit that made calls stay because their bodies have too many nodes, as text for
  // the report; else an empty text.
  virtual std::string BudgetSpent() const = 0;
};

// Whether the device of the node of this name is fixed, so that no pass may change it: the graph or
// a flag asks for the device, or the caller of the function that holds the node decides.
using HasFixedDevice = std::function<bool(std::string_view node)>;

// How far a rewrite may change numbers.
//   kExact         the same bits for every input.
//   kToleranced    within the tolerance of a model; makes or hides a NaN or infinity only where
//                  values come near the limits of their type.
//   kLowPrecision  as kToleranced, but with values rounded to types of 16 bits or fewer.
//   kFastMath      reassociation and the like; runs only if the user asks for it.
enum class Exactness : uint8_t { kExact, kToleranced, kLowPrecision, kFastMath };

// A rewrite as a pass declares it. `name` is "fold"; the full name, for users, is
// "constant_folding.fold".
struct RewriteInfo {
  std::string_view name;
  Exactness exactness;
};

// A number that a user may set for a pass, as in --passes='constant_folding(max_bytes=10MB)'.
struct PassOption {
  std::string_view name;
  int64_t otherwise;      // the value where the user sets none
  std::string_view what;  // the meaning, for help texts
};
using PassArguments = absl::flat_hash_map<std::string, int64_t>;

// The surroundings of one run of one pass. Owns nothing: the pipeline owns what the references and
// pointers name, for at least the run of the pass.
struct PassContext {
  Graph& graph;
  // Ids of nodes that must keep their names and their values: fetches, feeds, nodes that the caller
  // keeps, and nodes that are marked to stay (MustStay).
  const absl::flat_hash_set<NodeId>& preserve;
  // Ids of fed nodes. A fed node never runs, and its value is not constant.
  const absl::flat_hash_set<NodeId>& feeds;
  absl::Span<const Output> fetches;
  NodeEvaluator& evaluator;
  const KernelOracle& kernels;
  RewriteGate& gate;
  GraphShapes& shapes;  // possibly out of date: ask InferShapes (rewriter.h) for them
  const PassArguments& arguments;
  bool fast_math = false;                        // the user asks for rewrites of class kFastMath
  Target target;                                 // the runtime of the result
  CallInliner* inliner = nullptr;                // null: calls stay
  const HasFixedDevice* fixed_device = nullptr;  // null: no node has a fixed device
  // Names of new nodes that do the work of nodes with fixed devices. Not null where fixed_device is
  // not null.
  absl::flat_hash_set<std::string>* also_fixed = nullptr;
  // In the body of a function: the caller's device, which nodes without a device get. Empty: not
  // known.
  std::string_view caller_device;
  // Nodes that the pass left as they are, by name, and why. Null: nobody asks.
  std::vector<std::pair<std::string, std::string>>* notes = nullptr;

  bool IsFixed(NodeId n) const {
    return fixed_device != nullptr &&
           ((*fixed_device)(graph.name(n)) || also_fixed->contains(graph.name(n)));
  }
  // Notes why n stays as it is, for users that asked for the pass.
  void Note(NodeId n, std::string why) {
    if (notes != nullptr) notes->emplace_back(graph.name(n), std::move(why));
  }
  // Makes n's device fixed for the rest of the pipeline run. Only where fixed_device is not null.
  void Fix(NodeId n) { also_fixed->emplace(graph.name(n)); }
  // Asks for one application of a rewrite at node n (kNoNode: of the whole graph), and counts the
  // application. False if the rewrite is switched off or a limit is reached: then the pass must not
  // change the graph. A pass asks right before the change, when nothing else can prevent the
  // rewrite. `rewrite` is the name without the pass: "remove_redundant_cast".
  bool Allow(std::string_view rewrite, NodeId n = kNoNode) { return gate.Allow(graph, rewrite, n); }
  // Counts one look at a node. False when the pass has spent its budget of looks: the pass then
  // finishes the rewrite at hand and looks for no more.
  bool Visit() { return gate.Visit(); }
  // Whether n's device, and the target, have a kernel for `op` with these attributes, or for a
  // Const of `type`. `grouped`: the op may be a convolution over groups of channels.
  bool HasKernel(NodeId n, std::string_view op, const NewAttrs& attrs, bool grouped = false) const;
  bool HasConstKernel(NodeId n, DataType type) const;
  // The value of one of the pass's options.
  int64_t Argument(const PassOption& option) const {
    const auto it = arguments.find(option.name);
    return it == arguments.end() ? option.otherwise : it->second;
  }
};

// A pass of the pipeline. Every pass keeps four promises:
//   * it keeps the device of every node (only pin_to_host_optimization changes devices);
//   * it merges no nodes of different devices;
//   * it makes no op, but calls, for which the node's device has no kernel;
//   * it keeps the ids of surviving nodes.
class Pass {
 public:
  virtual ~Pass() = default;
  // All rewrites for which Run may ask PassContext::Allow.
  virtual std::vector<RewriteInfo> rewrites() const = 0;
  virtual std::vector<PassOption> options() const { return {}; }
  // Optimizes context.graph in place. Called once on each Pass object. Returns whether the graph
  // changed; the pipeline compares the answer with fingerprints where it checks each pass, and else
  // trusts it. After an error the pipeline restores the graph of before.
  virtual absl::StatusOr<bool> Run(PassContext& context) = 0;
};

using PassFactory = std::unique_ptr<Pass> (*)();

// One row of the pass order (grappler_lite/pipeline/pass_order.cc).
struct PassEntry {
  std::string_view name;
  PassFactory make;
  std::string_view what;      // one line for --list-passes
  bool brings_nodes = false;  // the pass runs once, before nodes are placed
  // Not empty: the pass is off unless the user asks for it, for this reason. A pass without
  // rewrites stays off even then.
  std::string_view off = {};
  // The field of RewriterConfig that switches the pass; empty: the field has the pass's name, if
  // there is one. A user's name of the field means every pass that the field switches.
  std::string_view field = {};
  // The word by which users ask for the pass as a precision of the whole model: "bf16". Empty: the
  // pass is none of these.
  std::string_view precision = {};
};
// Returns the built-in passes, in the order in which they run. A name may come twice.
absl::Span<const PassEntry> PassOrder();

// OK if a pass of the pass order or of `custom` has this name; INVALID_ARGUMENT, with the closest
// known name, else. Accepts every "plugin:…", since the passes of plug-ins are known only when a
// graph is placed.
absl::Status CheckPassName(std::string_view name, absl::Span<const PassEntry> custom = {});
// OK if a pass of the pass order or of `custom` has a rewrite of this full name; INVALID_ARGUMENT,
// with the closest known name, else. "plugin:…" is no name of a rewrite.
absl::Status CheckRewriteName(std::string_view name, absl::Span<const PassEntry> custom = {});

}  // namespace tenon
