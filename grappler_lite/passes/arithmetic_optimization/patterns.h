// What rewrites of arithmetic ask about nodes and shapes.
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

// The producer of n's data input i, if it is one of these ops and n may take over its work: it is
// on n's device, waits for nothing but its inputs and is not fed. What reads a variable by
// reference must read it when it does. Else kNoNode.
NodeId Producer(const Sweep& s, NodeId n, int i, std::initializer_list<std::string_view> names);
// The same for any op.
NodeId Producer(const Sweep& s, NodeId n, int i);
// The same, and nobody else reads it.
NodeId OwnProducer(const Sweep& s, NodeId n, int i);
NodeId OwnProducer(const Sweep& s, NodeId n, int i, std::initializer_list<std::string_view> names);

// Unary ops of single elements, each read by the next alone, from n back (without n); and the node
// before them.
struct UnaryChain {
  std::vector<NodeId> ops;
  NodeId start = kNoNode;
};
// The chain of at least one op that n reads, if it starts at one of these, read by it alone.
std::optional<UnaryChain> UnaryChainBehind(const Sweep& s, NodeId n,
                                           std::initializer_list<std::string_view> starts);
// n becomes what such a chain computes of x.
void BecomeChain(Sweep& s, NodeId n, std::span<const NodeId> ops, Output x);

// Whether remapping makes n part of a contraction that it stands behind: then it costs nothing
// where it is.
bool MayBeFused(const Graph& g, NodeId n);
bool IsContraction(const Graph& g, NodeId n);  // or something that remapping puts behind one

DataType TypeOf(const Graph& g, NodeId n);           // of output 0
Sweep::Attrs TypeAttr(DataType type);                // T
bool SameAttrs(const Graph& g, NodeId a, NodeId b);  // of the op, as OpAttrs says

// n becomes `op` of these inputs, with T alone. False where its device has no such kernel, or the
// rewrite is switched off.
bool BecomeTyped(Sweep& s, NodeId n, std::string_view op, std::initializer_list<Output> inputs);

Tensor IntVector(absl::Span<const int64_t> values);  // of int32

// Whether combining tensor `x` with constant `c` elementwise keeps x's shape.
bool KeepsShape(const Sweep& s, Output x, const Tensor& c);
// The same where `c` is a constant of which every element is `v`; false for others.
bool KeepsShapeAsSplat(const Sweep& s, Output x, Output c, double v);
// Whether `o` is a boolean constant of which every element is `v`.
bool AllAre(const Sweep& s, Output o, bool v);
// Shapes that are equal in every run: known alike, with at most one dimension left to follow from
// the number of elements.
bool SameShape(const PartialShape& a, const PartialShape& b);
// Whether `to` is what broadcasting `from` together with it gives, in every run: each dimension of
// `from` is 1 or known to be the same.
bool BroadcastsInto(const PartialShape& from, const PartialShape& to);

// `i`, which may count from the end, as an index of `size` things; nullopt if it is none.
std::optional<int64_t> IndexOf(int64_t i, int64_t size);
// The axis of this constant as a dimension of a tensor of rank `rank`; nullopt if it is none.
std::optional<int64_t> Axis(const Sweep& s, Output axis, int rank);
// Whether whatever n reads beside its first input is constant, and waits for nothing.
bool RestIsConst(const Sweep& s, NodeId n);

// Whether an op that only gives its elements another shape does so in every run.
bool ShapeOpCannotFail(const Sweep& s, NodeId n);

// Whether these are there in every run: nothing that they are made of, as far as this looks, can
// fail or be dead. Then a use of them may go.
bool CannotStop(const Sweep& s, std::span<const Output> outputs);
// The same, where what `awaited` waits for, as far as this looks, need not be told: it is waited
// for anyway.
bool CannotStopBut(const Sweep& s, std::span<const Output> outputs, Output awaited);

// Of a Transpose that cannot fail.
std::optional<Dims> Permutation(const Sweep& s, NodeId n);

}  // namespace tenon::arithmetic
