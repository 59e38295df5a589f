// A forward sweep of local rewrites over a graph. The sweep shows each node to the rewrites after
// the producers of its inputs, with its inputs already rewritten, so that a rewrite sees the final
// form of what a node reads, but for back edges of loops. After a rewrite that leaves the node in
// use the sweep shows the node again.
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

// One named rewrite. `apply` looks at node n, which is neither fed nor of an unknown op. Where the
// pattern holds, and sweep.Allow() agrees, `apply` does one of two things: it changes n in place,
// perhaps with new nodes before n; or it tells `sweep` which outputs replace the outputs of n. The
// values of other nodes must stay the same, and so must the errors of a run and which values are
// dead. `apply` returns whether it changed anything. Where it returns false, no node that was there
// has changed, and constants that `apply` made on trial are gone again.
struct Rewrite {
  std::string_view name;
  Exactness exactness;
  bool (*apply)(Sweep& sweep, NodeId n);
  std::string_view ops = {};  // the ops that `apply` looks at, separated by spaces; empty: all
};

// Whether the list `ops`, separated by spaces, holds `op`. An empty list holds none.
bool ListsOp(std::string_view ops, std::string_view op);

// Names and classes of the rewrites, for Pass::rewrites.
std::vector<RewriteInfo> InfosOf(std::span<const Rewrite> rewrites);

// One sweep over one graph, and the questions that rewrites may ask. Not thread-safe.
class Sweep {
 public:
  // `shapes` describes the nodes that the graph has now. Null if shapes could not be inferred: then
  // every shape is unknown. `context` and `shapes` must outlive the sweep.
  Sweep(PassContext& context, const GraphShapes* shapes);

  // Runs the rewrites over the graph; call it once. For each node the first rewrite in order that
  // applies is done, again and again until none applies (at most 1000 times for one node and the
  // nodes made for it). Once the pass has spent its budget (PassContext::Visit), the sweep shows no
  // more nodes. Rewrites of class kFastMath run only if the user asks for them. Returns whether the
  // graph changed. INVALID_ARGUMENT for a cycle outside of loops; other errors are
  // those of making a node. After an error the graph is half rewritten: the pipeline restores it.
  absl::StatusOr<bool> Run(std::span<const Rewrite> rewrites);

  // --- For rewrites.
  PassContext& context() { return context_; }
  const PassContext& context() const { return context_; }
  Graph& graph() { return context_.graph; }
  const Graph& graph() const { return context_.graph; }
  // Asks PassContext::Allow for the running rewrite, at the node that the sweep shows.
  bool Allow() { return context_.Allow(rewrite_->name, node_); }

  // Makes every use of n's output 0 a use of `by`: the sweep changes each user when it comes to the
  // user, and uses over back edges at its end, where it also removes n. A preserved n becomes an
  // Identity of `by` instead. No other output of n may have uses, which is not checked. Control
  // edges from n become control edges from by's node. Calls Allow itself. False, with nothing
  // changed, if n was replaced before, if a use would lose something that n waited for, if a
  // control edge from n would come to start at a node such as Switch, if `by` is an output of n, is
  // on another device, is a reference or, unless n only passes its input on, may lie in written
  // memory, if a preserved n has several outputs or its device has no Identity, or if the rewrite
  // is not allowed.
  bool ReplaceBy(NodeId n, Output by);
  // Makes every use of n's output i a use of by[i], as ReplaceBy does, and removes n at the end of
  // the sweep; `by` has one entry for each output, none of them an output of n. n must not have
  // been replaced before. Neither is checked. Calls Allow itself. False, with nothing changed, if n
  // is preserved or has control edges in or out, if an entry of `by` is on another device, is a
  // reference or may lie in written memory, or if the rewrite is not allowed. The caller must make
  // sure that uses lose nothing that n waited for through its data inputs.
  bool ReplaceOutputs(NodeId n, std::span<const Output> by);
  // The two steps of ReplaceOutputs, for a caller that makes the nodes of `by` between them.
  // MayReplaceOutputs: whether n is not preserved and has no control edges in or out.
  // BypassOutputs: moves the uses, without Allow; only where MayReplaceOutputs is true, and to
  // outputs of new nodes that Add has made for n.
  bool MayReplaceOutputs(NodeId n) const;
  void BypassOutputs(NodeId n, std::span<const Output> by);
  // The two steps of ReplaceBy, for a caller that has more to do between them. MayReplace: whether
  // n is not preserved and ReplaceBy would make uses of n uses of `by`, if the rewrite is allowed.
  // Bypass: moves the uses, without Allow; only where MayReplace is true.
  bool MayReplace(NodeId n, Output by) const;
  void Bypass(NodeId n, Output by);

  // --- Changes of nodes. Attributes are the ones that the OpDef lists; numbers and spans of inputs
  // are as in Graph. None of these calls Allow. Become turns n into another op with these data
  // inputs; n keeps its control inputs, its device and the shapes of its outputs. SetInput replaces
  // one input of n.
  using Attrs = NewAttrs;
  bool HasKernel(NodeId n, std::string_view op, const Attrs& attrs, bool grouped = false) const {
    return context_.HasKernel(n, op, attrs, grouped);
  }
  bool HasConstKernel(NodeId n, DataType type) const { return context_.HasConstKernel(n, type); }
  void Become(NodeId n, std::string_view op, std::span<const Output> inputs, Attrs attrs);
  void SetInput(NodeId n, int i, Output from);
  // Adds a node on n's device and returns its output 0, which has shape `shape`. The name is the
  // name of the node that the sweep has come to, with "/suffix", or with a number behind it where
  // that name is taken. The sweep shows the new node to the rewrites before it shows n again. An
  // error of making the node ends the sweep (Run returns it); the caller may go on with the result
  // meanwhile.
  Output Add(NodeId n, std::string_view suffix, std::string_view op, std::span<const Output> inputs,
             Attrs attrs, PartialShape shape);
  // Adds a Const for n to read. In a graph with loops the Const waits for n's first producer, so
  // that it belongs to n's iteration: n must have a data input. Errors as for Add.
  Output AddConst(NodeId n, std::string_view suffix, const Tensor& value);

  // Whether a single edge, data or control, leaves the node of `o` now, and the node is not
  // preserved. Edges to nodes that nobody reads any more do not count. The reader of that edge may
  // then take over the work of the node without doing it twice. May be false for such a node that
  // has taken uses over from one with several outputs.
  bool OnlyUse(Output o) const { return users_[o.node] == 1; }

  // The uses of n when the sweep started, control edges included; none for a new node. Users that
  // come later in the sweep still use n.
  std::span<const Fanouts::Use> uses_of(NodeId n) const {
    return n < known_nodes_ ? fanouts_.of(n) : std::span<const Fanouts::Use>();
  }
  // The number of uses of an output when the sweep started, without control edges; 1 for a new
  // node.
  int uses(Output o) const;
  // Whether control edges left n when the sweep started; false for a new node.
  bool has_control_uses(NodeId n) const;

  // Whether n reads a reference variable, or a value in the memory of a variable that some node
  // writes. The time at which n runs then decides on the value: a rewrite must not move n.
  bool ReadsReference(NodeId n) const;

  // The known part of the shape of an output. The reference is valid until the next node is added.
  const PartialShape& shape(Output o) const;
  // Whether both outputs are known to have the same shape in every run; the shape need not be
  // known.
  bool SameShape(Output a, Output b) const;
  // Whether dimension i of a is known to equal dimension j of b in every run, known sizes included.
  // Dimensions count from 0 and must not be negative; false for one behind the last.
  bool SameDim(Output a, int i, Output b, int j) const;
  // As EqualDims::ReshapeFits.
  std::optional<std::vector<Output>> ReshapeFits(NodeId n) const;
  // The value of a constant that is not fed, has no control inputs and has at most `max_elements`;
  // else nullopt. A constant with control inputs may be dead in a run, so that its value must not
  // move to another place.
  std::optional<Tensor> ConstOf(Output o, int64_t max_elements = 1 << 20) const;
  // Whether `o` is a constant of floats or integers, as ConstOf gives it, that is not empty and has
  // every element, as a double, equal to `v`. Zeros of both signs are equal, and a NaN equals
  // nothing.
  bool IsSplat(Output o, double v) const;
  // The common value of all elements of such a constant; nullopt where elements differ or the
  // constant is empty. A single NaN gives NaN, several give nullopt.
  std::optional<double> SplatOf(Output o) const;
  // As SplatOf, with one more fact: whether the elements have the same bits. Zeros of both signs
  // have one value but different bits.
  struct Splat {
    double value;
    bool same_bits;
  };
  std::optional<Splat> FindSplat(Output o) const;
  bool fed(NodeId n) const { return context_.feeds.contains(n); }
  // Whether a rewrite may drop a use of `o`: the node of `o` is fed or is a Const without control
  // inputs, so that it never fails and is never dead.
  bool IsFree(Output o) const;

 private:
  const EqualDims& equal_dims() const;
  // Whether uses of n may become uses of `by`:
  //   * uses of n have not been moved yet, and both nodes are on one device;
  //   * uses lose nothing that n waited for: n has no control inputs, and every other input of n is
  //     free or is computed from `by` and free constants alone;
  //   * no control edge from n comes to start at a node such as Switch, which runs whichever of its
  //     outputs is dead.
  bool LosesNothing(NodeId n, Output by) const;
  bool BecomeIdentity(NodeId n, Output by);
  void Show(NodeId n);
  bool ApplyOne(NodeId n);
  std::span<const Rewrite* const> Candidates(const OpDef* op);
  void ForwardInputs(NodeId n);
  void Grow();                    // tables that are kept by node
  int CountUses(Output o) const;  // when the sweep started
  // Whether ConstOf may give a value for `o`, as far as the node tells without its value.
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
  mutable absl::flat_hash_set<NodeId> counted_;  // nodes of many uses, now in counts_
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

// The tensor of which `o` is the Transpose by the permutation `by`. nullopt if `o` is no such
// Transpose, is fed or has control inputs.
std::optional<Output> TransposeArgument(const Sweep& s, Output o, const std::array<int64_t, 4>& by);

// Element i of a tensor with elements of type T. The data may be unaligned.
template <typename T>
T ElementAt(const Tensor& t, int64_t i) {
  T element;
  std::memcpy(&element, static_cast<const char*>(t.data()) + i * sizeof(T), sizeof(T));
  return element;
}

// Element i of a tensor of half, bfloat16, float, double or integers of 8 to 64 bits, rounded to a
// double; nullopt for other types.
std::optional<double> NumberAt(const Tensor& t, int64_t i);

// Returns the shapes of the graph as it is now. A fed Placeholder has the shape that its attribute
// promises; any other fed node may have any shape. Infers only what has changed since the last
// call. Null if shapes cannot be inferred (the plan reports the reason later, with the shapes of
// the feeds). The result is valid until the next call.
const GraphShapes* InferShapes(PassContext& context);

}  // namespace tenon
