// What rewrites of arithmetic ask about the neighbourhood of a node. Every answer is safe in one
// direction: "no" where something is not known.

#include "grappler_lite/passes/arithmetic_optimization/patterns.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::arithmetic {

NodeId Producer(const Sweep& s, NodeId n, int i) {
  const Graph& g = s.graph();
  const NodeId p = g.data_inputs(n)[i].node;
  const bool may = g.op(p) != nullptr && g.control_inputs(p).empty() && !s.fed(p) &&
                   g.device(p) == g.device(n) && !s.ReadsReference(p);
  return may ? p : kNoNode;
}

NodeId Producer(const Sweep& s, NodeId n, int i, std::initializer_list<std::string_view> names) {
  return OpIs(s.graph(), s.graph().data_inputs(n)[i].node, names) ? Producer(s, n, i) : kNoNode;
}

NodeId OwnProducer(const Sweep& s, NodeId n, int i) {
  return s.OnlyUse(s.graph().data_inputs(n)[i]) ? Producer(s, n, i) : kNoNode;
}

NodeId OwnProducer(const Sweep& s, NodeId n, int i, std::initializer_list<std::string_view> names) {
  return s.OnlyUse(s.graph().data_inputs(n)[i]) ? Producer(s, n, i, names) : kNoNode;
}

std::optional<UnaryChain> UnaryChainBehind(const Sweep& s, NodeId n,
                                           std::initializer_list<std::string_view> starts) {
  constexpr size_t kLongest = 8;
  const Graph& g = s.graph();
  UnaryChain chain;
  for (NodeId at = n; chain.ops.size() <= kLongest;) {
    const NodeId before = s.OnlyUse(g.data_inputs(at)[0]) ? Producer(s, at, 0) : kNoNode;
    if (before == kNoNode) return std::nullopt;
    if (OpIs(g, before, starts)) {
      chain.start = before;
      return chain.ops.empty() ? std::nullopt : std::optional(std::move(chain));
    }
    if (!IsUnaryCwise(g.facts(before))) return std::nullopt;
    chain.ops.push_back(at = before);
  }
  return std::nullopt;
}

void BecomeChain(Sweep& s, NodeId n, std::span<const NodeId> ops, Output x) {
  const Graph& g = s.graph();
  // Elementwise ops keep the shape. The copy outlives Add, which invalidates references to shapes.
  const PartialShape shape = s.shape(x);
  for (size_t i = ops.size(); i-- > 1;)
    x = s.Add(n, "before", g.op_name(ops[i]), {&x, 1}, OpAttrs(g, ops[i]), shape);
  s.Become(n, g.op_name(ops[0]), {&x, 1}, OpAttrs(g, ops[0]));
}

bool IsContraction(const Graph& g, NodeId n) { return g.facts(n).fuses == Fuses::kContraction; }

bool MayBeFused(const Graph& g, NodeId n) {
  const NodeId before = g.data_inputs(n)[0].node;
  return g.facts(n).fuses == Fuses::kActivation &&
         (IsContraction(g, before) || OpIs(g, before, {"Add", "AddV2"}));
}

DataType TypeOf(const Graph& g, NodeId n) { return g.output_type({n, 0}); }

Sweep::Attrs TypeAttr(DataType type) { return {{"T", attr::Type(type)}}; }

bool SameAttrs(const Graph& g, NodeId a, NodeId b) {
  if (&g.kind(a) == &g.kind(b)) return true;
  const Sweep::Attrs of_a = OpAttrs(g, a), of_b = OpAttrs(g, b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const Graph::NewAttr& x, const Graph::NewAttr& y) {
                      return x.name == y.name && x.wire == y.wire;
                    });
}

bool BecomeTyped(Sweep& s, NodeId n, std::string_view op, std::initializer_list<Output> inputs) {
  Sweep::Attrs attrs = TypeAttr(s.graph().output_type(*inputs.begin()));
  if (!s.HasKernel(n, op, attrs) || !s.Allow()) return false;
  s.Become(n, op, std::vector<Output>(inputs), std::move(attrs));
  return true;
}

Tensor IntVector(absl::Span<const int64_t> values) {
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Tensor::Of<int32_t>(DataType::kInt32, narrow, {static_cast<int64_t>(values.size())});
}

bool KeepsShape(const Sweep& s, Output x, const Tensor& c) {
  const PartialShape& shape = s.shape(x);
  // One element of rank 0 broadcasts to anything; of higher rank it adds dimensions to an x of
  // lower rank.
  if (c.num_elements() == 1) return c.shape().rank() == 0 || shape.rank() >= c.shape().rank();
  const std::optional<Shape> known = shape.ToShape();
  return known && *known == c.shape();
}

bool KeepsShapeAsSplat(const Sweep& s, Output x, Output c, double v) {
  return s.IsSplat(c, v) && KeepsShape(s, x, *s.ConstOf(c));
}

bool AllAre(const Sweep& s, Output o, bool v) {
  const std::optional<Tensor> t = s.ConstOf(o);
  if (!t || t->dtype() != DataType::kBool || t->num_elements() == 0) return false;
  for (int64_t i = 0; i < t->num_elements(); ++i) {
    if (t->flat<bool>()[i] != v) return false;
  }
  return true;
}

bool SameShape(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !(a == b)) return false;
  int unknown = 0;
  for (int64_t d : a.dims()) {
    if (d == 0) return false;  // a missing dimension would not follow
    // With one unknown dimension the equal number of elements decides that dimension. With two it
    // does not.
    unknown += d < 0;
  }
  return unknown <= 1;
}

bool BroadcastsInto(const PartialShape& from, const PartialShape& to) {
  if (!from.known_rank() || !to.known_rank() || from.rank() > to.rank()) return false;
  for (int i = 1; i <= from.rank(); ++i) {
    const int64_t d = from.dim(-i);
    if (d != 1 && (d < 0 || d != to.dim(-i))) return false;
  }
  return true;
}

std::optional<int64_t> IndexOf(int64_t i, int64_t size) {
  if (i < -size || i >= size) return std::nullopt;
  return i < 0 ? i + size : i;
}

std::optional<int64_t> Axis(const Sweep& s, Output axis, int rank) {
  const std::optional<Tensor> value = s.ConstOf(axis, 1);
  if (!value || value->num_elements() != 1 || !IsInteger(value->dtype())) return std::nullopt;
  return IndexOf(value->IntAt(0), rank);
}

bool RestIsConst(const Sweep& s, NodeId n) {
  const std::span<const Output> rest = s.graph().data_inputs(n).subspan(1);
  return std::all_of(rest.begin(), rest.end(), [&](Output o) { return s.ConstOf(o).has_value(); });
}

bool ShapeOpCannotFail(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (OpIs(g, n, {"Reshape"})) {
    const std::optional<Tensor> sizes = s.ConstOf(g.data_inputs(n)[1], kMaxRank);
    if (!sizes || !IsInteger(sizes->dtype())) return false;
    Dims to;
    for (int64_t i = 0; i < sizes->num_elements(); ++i) to.push_back(sizes->IntAt(i));
    return ReshapeFits(s.shape(g.data_inputs(n)[0]), to);
  }
  const PartialShape& in = s.shape(g.data_inputs(n)[0]);
  const PartialShape& out = s.shape({n, 0});
  if (!in.known_rank() || !out.known_rank()) return false;
  const std::optional<ElementCount> before = CountElements(in.dims());
  const std::optional<ElementCount> after = CountElements(out.dims());
  return before && after && before->known == after->known && before->unknown == after->unknown;
}

namespace {

// Whether n itself neither fails nor decides what is dead.
bool CannotFail(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (g.op(n) == nullptr || !g.control_inputs(n).empty()) return false;
  if (IsUnaryCwise(g.facts(n)) || OpIs(g, n, {"Identity", "Shape", "Size", "Rank"})) return true;
  if (OpIs(g, n, {"Reshape", "Squeeze", "ExpandDims"})) return ShapeOpCannotFail(s, n);
  if (OpIs(g, n, {"Transpose"})) return Permutation(s, n).has_value();
  const auto known = [&](Output o) { return s.shape(o).fully_defined(); };
  return g.facts(n).checked_by_shapes && g.facts(n).cwise_arity == 2 && known({n, 0}) &&
         known(g.data_inputs(n)[0]) && known(g.data_inputs(n)[1]);
}

constexpr size_t kMostNodes = 64;

// The nodes that `awaited` waits for, and its own; found as they are asked for, the nearest first.
class Awaited {
 public:
  Awaited(const Sweep& s, Output awaited) : s_(s) { Add(awaited.node); }

  bool Contains(NodeId n) {
    while (!seen_.contains(n) && looked_at_ < order_.size()) {
      const NodeId next = order_[looked_at_++];
      if (s_.fed(next)) continue;  // it waits for nothing
      for (const Output& in : s_.graph().data_inputs(next)) Add(in.node);
    }
    return seen_.contains(n);
  }

 private:
  // Of a Switch one output is dead, of a Merge one input; a loop waits for the pass before.
  void Add(NodeId n) {
    constexpr size_t kMost = 4 * kMostNodes;
    if (order_.size() < kMost && !IsControlFlow(s_.graph().facts(n)) && seen_.insert(n).second)
      order_.push_back(n);
  }

  const Sweep& s_;
  absl::flat_hash_set<NodeId> seen_;
  std::vector<NodeId> order_;
  size_t looked_at_ = 0;
};

bool CannotStop(const Sweep& s, std::span<const Output> outputs, Awaited* awaited) {
  std::vector<Output> open(outputs.begin(), outputs.end());
  for (size_t looked_at = 0; !open.empty(); ++looked_at) {
    const Output o = open.back();
    open.pop_back();
    if (s.IsFree(o) || (awaited != nullptr && awaited->Contains(o.node))) continue;
    if (looked_at >= kMostNodes || !CannotFail(s, o.node)) return false;
    const std::span<const Output> in = s.graph().data_inputs(o.node);
    open.insert(open.end(), in.begin(), in.end());
  }
  return true;
}

}  // namespace

bool CannotStop(const Sweep& s, std::span<const Output> outputs) {
  return CannotStop(s, outputs, nullptr);
}

bool CannotStopBut(const Sweep& s, std::span<const Output> outputs, Output awaited) {
  Awaited waits_for(s, awaited);
  return CannotStop(s, outputs, &waits_for);
}

std::optional<Dims> Permutation(const Sweep& s, NodeId n) {
  const std::optional<Tensor> t = s.ConstOf(s.graph().data_inputs(n)[1], kMaxRank);
  if (!t || (t->dtype() != DataType::kInt32 && t->dtype() != DataType::kInt64)) return std::nullopt;
  const int64_t rank = t->num_elements();
  if (s.shape(s.graph().data_inputs(n)[0]).rank() != rank) return std::nullopt;
  Dims perm;
  std::vector<bool> seen(rank);
  for (int64_t i = 0; i < rank; ++i) {
    const std::optional<int64_t> p = IndexOf(t->IntAt(i), rank);
    if (!p || seen[*p]) return std::nullopt;
    seen[*p] = true;
    perm.push_back(*p);
  }
  return perm;
}

}  // namespace tenon::arithmetic
