// What rewrites of arithmetic ask about nodes and shapes. False, kNoNode and nullopt also mean "not
// known". The functions that take a `Sweep&` change n. Their caller asks Sweep::Allow first, unless
// the function says that it calls Allow itself.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "grappler_lite/analysis/cannot_fail.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon::arithmetic {

// Returns the producer of n's data input i, if its op is one of `names` and n may take over its
// work: the producer is of a known op, is on n's device, has no control inputs, is not fed and
// reads no memory of a variable (Sweep::ReadsReference: a read must stay at its time). It may have
// other readers. Else kNoNode.
NodeId Producer(const Sweep& s, NodeId n, int i, std::initializer_list<std::string_view> names);
// Producer of any op.
NodeId Producer(const Sweep& s, NodeId n, int i);
// Producer, if that node is not preserved and the edge to n is the only one that leaves it. Nothing
// needs the producer any more once n reads the producer's inputs instead. kNoNode if n reads the
// producer twice.
NodeId OwnProducer(const Sweep& s, NodeId n, int i);
NodeId OwnProducer(const Sweep& s, NodeId n, int i, std::initializer_list<std::string_view> names);

// Unary elementwise ops, each read by the next alone, from n back (without n); and the node before
// them.
struct UnaryChain {
  std::vector<NodeId> ops;
  NodeId start = kNoNode;
};
// Returns the chain of 1 to 8 such ops that n reads as data input 0, if it starts at an op of
// `starts` that only the chain reads.
std::optional<UnaryChain> UnaryChainBehind(const Sweep& s, NodeId n,
                                           std::initializer_list<std::string_view> starts);
// Makes n compute what the chain `ops` (as in UnaryChain) computes of x.
void BecomeChain(Sweep& s, NodeId n, std::span<const NodeId> ops, Output x);

// Whether remapping may fuse n into the contraction or sum that gives n's data input 0, which n
// must have: n costs nothing there, so that moving n would cost more.
bool MayBeFused(const Graph& g, NodeId n);
// Whether n's facts say Fuses::kContraction: a product, a convolution, or a sum or the like that
// remapping fuses behind one; not an activation.
bool IsContraction(const Graph& g, NodeId n);

DataType TypeOf(const Graph& g, NodeId n);           // of output 0
Sweep::Attrs TypeAttr(DataType type);                // T
bool SameAttrs(const Graph& g, NodeId a, NodeId b);  // of the op, as OpAttrs says

// Makes n `op` of these inputs, with attribute T alone, the type of the first. Calls Allow itself.
// False, with nothing changed, where n's device has no such kernel or the rewrite is not allowed.
bool BecomeTyped(Sweep& s, NodeId n, std::string_view op, std::initializer_list<Output> inputs);

Tensor IntVector(absl::Span<const int64_t> values);  // of int32, which the values must fit

// Whether combining tensor `x` with constant `c` elementwise keeps x's shape in every run.
bool KeepsShape(const Sweep& s, Output x, const Tensor& c);
// KeepsShape where every element of constant `c` is `v`; false for other `c`.
bool KeepsShapeAsSplat(const Sweep& s, Output x, Output c, double v);
// Whether `o` is a boolean constant of which every element is `v`. False for an empty one.
bool AllAre(const Sweep& s, Output o, bool v);
// Whether tensors of these shapes have the same shape in every run. The caller must know that both
// have the same number of elements. True if what is known of the shapes is equal, with at most one
// unknown dimension, and no dimension is 0.
bool SameShape(const PartialShape& a, const PartialShape& b);
// Whether broadcasting `from` together with `to` gives `to` in every run: each dimension of `from`
// is 1 or known to be the same.
bool BroadcastsInto(const PartialShape& from, const PartialShape& to);

// Returns `i`, which may count from the end, as an index of `size` things; nullopt if it is out of
// range.
std::optional<int64_t> IndexOf(int64_t i, int64_t size);
// Returns the constant `axis` as a dimension of a tensor of rank `rank`; nullopt if it is no
// constant or no such dimension.
std::optional<int64_t> Axis(const Sweep& s, Output axis, int rank);
// Whether all data inputs of n but the first are constants that wait for nothing.
bool RestIsConst(const Sweep& s, NodeId n);

// Whether n, which only gives its elements another shape (Reshape, Squeeze, ExpandDims), succeeds
// in every run.
bool ShapeOpCannotFail(const Sweep& s, NodeId n);

// Whether these outputs have a value in every run: no node that they are made of can fail or make
// them dead. Looks at 64 uses of nodes; false if one beyond these is not Sweep::IsFree. Where it is
// true, a rewrite may drop a use of them.
bool CannotStop(const Sweep& s, std::span<const Output> outputs);
// CannotStop, but the node of `awaited`, and the nodes whose data it reads directly or through
// others, may fail: the result waits for `awaited` anyway. These nodes leave out control flow
// (Switch, Merge and the like), and nodes that are reached only through control flow or through a
// fed node. Only the nearest 256 are known.
bool CannotStopBut(const Sweep& s, std::span<const Output> outputs, Output awaited);

// Returns the permutation of Transpose n, each entry in [0, rank); nullopt unless it is a constant
// and fits the rank, so that n cannot fail.
std::optional<Dims> Permutation(const Sweep& s, NodeId n);

}  // namespace tenon::arithmetic
