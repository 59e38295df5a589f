// Reductions of reductions, of reshaped tensors, and of what monotonic functions made.
#include <algorithm>
#include <vector>

#include "graph/op_defs/op_facts.h"
#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// Which dimensions of its input reduction n reduces; nullopt where that is unknown.
std::optional<std::vector<bool>> ReducedDims(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const int rank = s.shape(g.data_inputs(n)[0]).rank();
  const std::optional<Tensor> axes = s.ConstOf(g.data_inputs(n)[1], kMaxRank);
  if (rank < 0 || !axes || !IsInteger(axes->dtype())) return std::nullopt;
  std::vector<bool> reduced(rank);
  for (int64_t i = 0; i < axes->num_elements(); ++i) {
    const std::optional<int64_t> axis = IndexOf(axes->IntAt(i), rank);
    if (!axis || reduced[*axis]) return std::nullopt;
    reduced[*axis] = true;
  }
  return reduced;
}

// n becomes a reduction of these dimensions of x.
void ReduceInstead(Sweep& s, NodeId n, Output x, const std::vector<bool>& reduced) {
  const Graph& g = s.graph();
  std::vector<int64_t> axes;
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (reduced[d]) axes.push_back(static_cast<int64_t>(d));
  }
  Sweep::Attrs attrs = OpAttrs(g, n);
  PutAttr(attrs, "Tidx", attr::Type(DataType::kInt32));
  const Output inputs[] = {x, s.AddConst(n, "axes", IntVector(axes))};
  s.Become(n, g.op_name(n), inputs, std::move(attrs));
}

// A reduction of nothing, or of dimensions of size one, is x, perhaps of another shape.
bool RemoveTrivialReduction(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const Output x = g.data_inputs(n)[0];
  const PartialShape& shape = s.shape(x);
  const std::optional<Tensor> axes = s.ConstOf(g.data_inputs(n)[1], 0);
  if (axes && axes->num_elements() == 0) return s.ReplaceBy(n, x);  // whatever its rank is
  const std::optional<std::vector<bool>> reduced = ReducedDims(s, n);
  if (!reduced) return false;
  std::vector<int64_t> squeezed;
  for (int d = 0; d < shape.rank(); ++d) {
    if ((*reduced)[d] && shape.dim(d) != 1) return false;
    if ((*reduced)[d]) squeezed.push_back(d);
  }
  if (squeezed.empty() || BoolAttr(g, n, "keep_dims")) return s.ReplaceBy(n, x);
  Sweep::Attrs attrs = TypeAttr(TypeOf(g, n));
  attrs.push_back({"squeeze_dims", attr::IntList(squeezed)});
  if (!s.HasKernel(n, "Squeeze", attrs) || !s.Allow()) return false;
  s.Become(n, "Squeeze", {&x, 1}, std::move(attrs));
  return true;
}

// max(max(x, a), b) is max(x, a and b); so for the other reductions. A mean of means is the mean,
// since all groups have one size.
bool MergeReductions(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId inner = OwnProducer(s, n, 0, {g.op_name(n)});
  const bool keep_dims = BoolAttr(g, n, "keep_dims");
  if (inner == kNoNode || BoolAttr(g, inner, "keep_dims") != keep_dims ||
      !s.HasConstKernel(n, DataType::kInt32))
    return false;
  std::optional<std::vector<bool>> reduced = ReducedDims(s, inner);
  const std::optional<std::vector<bool>> then = ReducedDims(s, n);
  if (!reduced || !then || !s.Allow()) return false;
  size_t left = 0;  // the dimension of the inner result
  for (size_t d = 0; d < reduced->size(); ++d) {
    if ((*reduced)[d] && !keep_dims) continue;
    (*reduced)[d] = (*reduced)[d] || (*then)[left];
    ++left;
  }
  ReduceInstead(s, n, g.data_inputs(inner)[0], *reduced);
  return true;
}

// Numbers whose order of reduction makes no difference.
bool OrderIsFree(const Graph& g, NodeId n) {
  return TypeOf(g, n) == DataType::kBool || (IsInteger(TypeOf(g, n)) && g.op_name(n) != "Mean");
}

bool MergeExactReductions(Sweep& s, NodeId n) {
  return OrderIsFree(s.graph(), n) && MergeReductions(s, n);
}

// The order decides which zero, and which NaN, comes out.
bool MergeExtrema(Sweep& s, NodeId n) {
  return IsFloating(TypeOf(s.graph(), n)) && MergeReductions(s, n);
}

// Sums in another order round otherwise.
bool MergeSums(Sweep& s, NodeId n) {
  const DataType type = TypeOf(s.graph(), n);
  return (IsFloating(type) || IsComplex(type)) && MergeReductions(s, n);
}

// A reduction to one number does not care for the shape. The order in which a kernel sums follows
// from the shape, so that sums may round otherwise.
bool ReduceBeforeReshape(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId reshape = Producer(s, n, 0, {"Reshape", "Squeeze", "ExpandDims"});
  if (reshape == kNoNode || BoolAttr(g, n, "keep_dims") || !RestIsConst(s, reshape) ||
      !ShapeOpCannotFail(s, reshape) || !s.HasConstKernel(n, DataType::kInt32))
    return false;
  const std::optional<std::vector<bool>> reduced = ReducedDims(s, n);
  if (!reduced || std::find(reduced->begin(), reduced->end(), false) != reduced->end() ||
      !s.Allow())
    return false;
  const Output x = g.data_inputs(reshape)[0];
  ReduceInstead(s, n, x, std::vector<bool>(s.shape(x).rank(), true));
  return true;
}

// sum(x * c) is sum(x) * c for a number c; quotients likewise.
bool HoistFactorOutOfSum(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId mul = OwnProducer(s, n, 0, {"Mul", "RealDiv"});
  if (mul == kNoNode || !IsFloating(TypeOf(g, n))) return false;
  for (int i : {0, 1}) {
    const Output x = g.data_inputs(mul)[i], c = g.data_inputs(mul)[1 - i];
    const std::optional<Tensor> factor = s.ConstOf(c, 1);
    if ((i == 1 && g.op_name(mul) == "RealDiv") || !factor || factor->shape().rank() != 0) continue;
    const std::string_view op = g.op_name(mul);
    Sweep::Attrs attrs = TypeAttr(TypeOf(g, n));
    if (!s.HasKernel(n, op, attrs) || !s.Allow()) return false;
    const Output inputs[] = {x, g.data_inputs(n)[1]};
    const Output sum = s.Add(n, "sum", g.op_name(n), inputs, OpAttrs(g, n), s.shape({n, 0}));
    const Output operands[] = {sum, c};
    s.Become(n, op, operands, std::move(attrs));
    return true;
  }
  return false;
}

// Whether each maximum is one of at least one number.
bool ReducesSomething(const Sweep& s, NodeId n) {
  const PartialShape& shape = s.shape(s.graph().data_inputs(n)[0]);
  const std::optional<std::vector<bool>> reduced = ReducedDims(s, n);
  if (!reduced) return false;
  for (int d = 0; d < shape.rank(); ++d) {
    if ((*reduced)[d] && shape.dim(d) <= 0) return false;
  }
  return true;
}

// The maximum of f(x) is f of the maximum of x, if f never falls and has a value everywhere; of -x,
// the other extremum. Which zero comes out may differ.
bool HoistMonotonic(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId f = OwnProducer(s, n, 0);
  const bool is_pool = g.op_name(n) == "MaxPool";
  if (f == kNoNode || g.facts(f).monotone == Monotone::kNo || !IsFloating(TypeOf(g, n)) ||
      MayBeFused(g, f) || !(is_pool || ReducesSomething(s, n)))
    return false;
  std::string_view op = g.op_name(n);
  if (g.facts(f).monotone == Monotone::kFalling) {
    if (is_pool) return false;
    op = op == "Max" ? "Min" : "Max";
  }
  Sweep::Attrs attrs = OpAttrs(g, n);
  if (!s.HasKernel(n, op, attrs) || !s.Allow()) return false;
  std::vector<Output> inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
  inputs[0] = g.data_inputs(f)[0];
  const Output extremum = s.Add(n, "extremum", op, inputs, std::move(attrs), s.shape({n, 0}));
  s.Become(n, g.op_name(f), {&extremum, 1}, OpAttrs(g, f));
  return true;
}

constexpr Rewrite kReductionsRewrites[] = {
    {"remove_trivial_reduction", Exactness::kExact, RemoveTrivialReduction, "Prod Max Min All Any"},
    // A sum may begin with 0, which makes 0 of -0.
    {"remove_trivial_sum", Exactness::kToleranced, RemoveTrivialReduction, "Sum Mean"},
    {"merge_exact_reductions", Exactness::kExact, MergeExactReductions, "Sum Prod Max Min All Any"},
    {"merge_extrema", Exactness::kToleranced, MergeExtrema, "Max Min"},
    {"merge_sums", Exactness::kFastMath, MergeSums, "Sum Prod Mean"},
    {"hoist_factor_out_of_sum", Exactness::kFastMath, HoistFactorOutOfSum, "Sum Mean"},
    {"reduce_before_reshape", Exactness::kToleranced, ReduceBeforeReshape,
     "Sum Prod Mean Max Min All Any"},
    {"hoist_monotonic", Exactness::kToleranced, HoistMonotonic, "Max Min MaxPool"},
};

}  // namespace

std::span<const Rewrite> Reductions() { return kReductionsRewrites; }

}  // namespace tenon::arithmetic
