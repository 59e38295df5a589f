// A forward sweep of local rewrites: each node is shown producers first, with its inputs already
// rewritten, and once more after each rewrite that changed it.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "grappler_lite/analysis/equal_dims.h"
#include "grappler_lite/analysis/written_memory.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

class Sweep;

// One named rewrite. `apply` looks at node n; where its pattern holds, and sweep.Allow() agrees, it
// changes n in place, adding nodes before it, or names in `sweep` what uses of n shall use instead.
// What other nodes compute stays. It returns whether it did something.
struct Rewrite {
  std::string_view name;
  Exactness exactness;
  bool (*apply)(Sweep& sweep, NodeId n);
  std::string_view ops = {};  // those that it is shown, by spaces; empty: all
};

// Whether `ops`, which are separated by spaces, hold this one.
bool ListsOp(std::string_view ops, std::string_view op);

// For Pass::rewrites.
std::vector<RewriteInfo> InfosOf(std::span<const Rewrite> rewrites);

class Sweep {
 public:
  // `shapes` may be null when they could not be inferred; it describes the nodes that the sweep
  // started with.
  Sweep(PassContext& context, const GraphShapes* shapes);

  // Runs the rewrites over the graph; the first that applies to a node wins, until none does.
  // Rewrites of class kFastMath run only if asked for.
  absl::StatusOr<bool> Run(std::span<const Rewrite> rewrites);

  // --- For rewrites.
  PassContext& context() { return context_; }
  const PassContext& context() const { return context_; }
  Graph& graph() { return context_.graph; }
  const Graph& graph() const { return context_.graph; }
  // Asks PassContext::Allow for the rewrite that is running at the node that it was shown.
  bool Allow() { return context_.Allow(rewrite_->name, node_); }

  // Every later use of n's output 0 becomes a use of `by`, and n goes; one that must stay becomes
  // an Identity of `by`. Control edges from n become control edges from by's node.
  bool ReplaceBy(NodeId n, Output by);
  // The same for each output of n, which nothing may wait for; the caller has seen to it that
  // nothing is lost that n waited for.
  bool ReplaceOutputs(NodeId n, std::span<const Output> by);
  // ReplaceBy in two steps: whether uses of n may be moved to `by`, since n is not preserved and
  // nothing is lost that n waited for; and doing it without asking anybody.
  bool MayReplace(NodeId n, Output by) const;
  void Bypass(NodeId n, Output by);

  // Making nodes of other ops. Attributes are what the OpDef lists. What n waits for, n's device
  // and the shape of n's outputs stay.
  using Attrs = NewAttrs;
  bool HasKernel(NodeId n, std::string_view op, const Attrs& attrs, bool grouped = false) const {
    return context_.HasKernel(n, op, attrs, grouped);
  }
  bool HasConstKernel(NodeId n, DataType type) const { return context_.HasConstKernel(n, type); }
  void Become(NodeId n, std::string_view op, std::span<const Output> inputs, Attrs attrs);
  void SetInput(NodeId n, int i, Output from);
  // A node on n's device, named after the one that the sweep has come to, whose output 0 has this
  // shape. It is shown to the rewrites before n is shown again.
  Output Add(NodeId n, std::string_view suffix, std::string_view op, std::span<const Output> inputs,
             Attrs attrs, PartialShape shape);
  // A Const, which n may read wherever it stands.
  Output AddConst(NodeId n, std::string_view suffix, const Tensor& value);

  // Whether a single edge leaves the producer of `o`, and nobody else sees it: what reads that edge
  // may take the producer's work upon itself.
  bool OnlyUse(Output o) const { return users_[o.node] == 1; }

  // Who used n when the sweep started. Nodes that come later in the sweep still do.
  std::span<const Fanouts::Use> uses_of(NodeId n) const {
    return n < known_nodes_ ? fanouts_.of(n) : std::span<const Fanouts::Use>();
  }
  // How many uses an output had when the sweep started (control uses of its node not counted).
  int uses(Output o) const;
  bool has_control_uses(NodeId n) const;

  // Whether n reads a variable by reference, or what lies in the memory of one that is written:
  // it must read it when it does now.
  bool ReadsReference(NodeId n) const;

  // What is known of a tensor.
  const PartialShape& shape(Output o) const;
  // Whether both have one shape in every run, which need not be known.
  bool SameShape(Output a, Output b) const;
  // Whether dimension i of a is dimension j of b in every run.
  bool SameDim(Output a, int i, Output b, int j) const;
  // What EqualDims::ReshapeFits says.
  std::optional<std::vector<Output>> ReshapeFits(NodeId n) const;
  // The value of a constant that is not fed, waits for nothing (so that it is there in every run
  // that takes its place, whatever branch is dead) and has at most `max_elements`; nullopt
  // otherwise.
  std::optional<Tensor> ConstOf(Output o, int64_t max_elements = 1 << 20) const;
  // Whether `o` is a floating or integer constant of which every element is `v`.
  bool IsSplat(Output o, double v) const;
  // The number that each element of such a constant is; nullopt where they differ or there are
  // none.
  std::optional<double> SplatOf(Output o) const;
  // The same, and whether its elements are the same bit for bit: zeros may differ in their sign.
  struct Splat {
    double value;
    bool same_bits;
  };
  std::optional<Splat> FindSplat(Output o) const;
  bool fed(NodeId n) const { return context_.feeds.contains(n); }
  // Whether a use of `o` may go without a trace: it is always there and never fails.
  bool IsFree(Output o) const;

 private:
  const EqualDims& equal_dims() const;
  // Whether uses of `by` may stand for uses of n: they have not been moved yet, both are on one
  // device, and nothing that n waited for is lost: no control inputs, and every other input is
  // itself made of `by` and constants that wait for nothing. Who waits for n must not come to wait
  // for a Switch, which runs whichever of its outputs is dead.
  bool LosesNothing(NodeId n, Output by) const;
  bool BecomeIdentity(NodeId n, Output by);
  void Show(NodeId n);
  bool ApplyOne(NodeId n);
  std::span<const Rewrite* const> Candidates(const OpDef* op);
  void ForwardInputs(NodeId n);
  void Grow();                    // tables that are kept by node
  int CountUses(Output o) const;  // when the sweep started
  // The node of `o` if it is what ConstOf gives the value of, as far as can be told without it.
  bool IsPlainConst(Output o, int64_t max_elements) const;
  bool IsReplaced(NodeId n) const { return replaced_by_[n].node != kNoNode; }
  Output Resolve(Output o) const;
  void Count(std::span<const Output> inputs);
  void Discount(std::span<const Output> inputs);

  PassContext& context_;
  const GraphShapes* shapes_;
  const WrittenMemory written_memory_;
  mutable std::optional<EqualDims> equal_dims_;  // made when a rewrite asks for it
  int32_t known_nodes_;
  Fanouts fanouts_;
  mutable absl::flat_hash_set<NodeId> counted_;  // nodes of many uses, of which the next knows
  mutable absl::flat_hash_map<Output, int> counts_;
  mutable absl::flat_hash_map<NodeId, bool> reads_reference_;  // nodes of many inputs
  // What constants hold, by kind, which never changes: those of few elements, and the one element
  // of those of many.
  mutable absl::flat_hash_map<const NodeKind*, Tensor> values_;
  mutable absl::flat_hash_map<const NodeKind*, std::optional<Splat>> splats_;
  std::vector<int32_t> users_;  // by node id: edges from it that are left, and one if it must stay
  std::vector<PartialShape> made_shapes_;  // of nodes that the sweep made
  std::vector<NodeId> pending_;            // to be shown, last first
  std::vector<Output> replaced_by_;        // by node id; node kNoNode: not replaced
  absl::flat_hash_map<Output, Output> outputs_replaced_by_;  // of nodes that name themselves above
  std::vector<NodeId> replaced_;
  std::span<const Rewrite> rewrites_;
  absl::flat_hash_map<const OpDef*, std::vector<const Rewrite*>> candidates_;
  bool changed_ = false, has_loops_ = false;
  absl::Status status_;  // of making nodes
  const Rewrite* rewrite_ = nullptr;
  NodeId node_ = kNoNode, origin_ = kNoNode;
};

// What `o` is the Transpose of by these dimensions; neither fed nor waiting.
std::optional<Output> TransposeArgument(const Sweep& s, Output o, const std::array<int64_t, 4>& by);

// Element i of a tensor of T, perhaps unaligned.
template <typename T>
T ElementAt(const Tensor& t, int64_t i) {
  T element;
  std::memcpy(&element, static_cast<const char*>(t.data()) + i * sizeof(T), sizeof(T));
  return element;
}

// The same of a tensor of half, bfloat16, float, double or integers; nullopt for other types.
std::optional<double> NumberAt(const Tensor& t, int64_t i);

// Shapes as a pass may use them, at the cost of what has changed since one asked last: a fed
// Placeholder has the shape that its attribute promises, any other fed node may be anything. Null
// when they cannot be inferred (the plan will say why, with the shapes of the feeds). Valid until
// somebody asks again.
const GraphShapes* InferShapes(PassContext& context);

}  // namespace tenon
