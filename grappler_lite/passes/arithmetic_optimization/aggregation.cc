// Sums and products: of one tensor with itself, with a common factor, and the order of their terms.
#include <algorithm>
#include <vector>

#include "graph/tensor/small_float.h"
#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

std::optional<Tensor> Scalar(DataType type, int32_t v) {
  switch (type) {
    case DataType::kFloat:
      return Tensor::Of<float>(type, {static_cast<float>(v)}, {});
    case DataType::kDouble:
      return Tensor::Of<double>(type, {static_cast<double>(v)}, {});
    case DataType::kInt32:
      return Tensor::Of<int32_t>(type, {v}, {});
    case DataType::kInt64:
      return Tensor::Of<int64_t>(type, {v}, {});
    case DataType::kHalf:
    case DataType::kBfloat16: {
      const SmallFloat format = *SmallFloatOf(type);
      const auto bits = static_cast<uint16_t>(format.Encode(v));
      // A number of terms that the type cannot hold would be rounded.
      if (format.Decode(bits) != v) return std::nullopt;
      return Tensor::Of<uint16_t>(type, {bits}, {});
    }
    default:
      return std::nullopt;
  }
}

// x + … + x, n times, is x * n.
bool SumToMultiple(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  const Output x = in[0];
  if (in.size() < 2 || std::count(in.begin(), in.end(), x) != std::ssize(in)) return false;
  const DataType type = TypeOf(g, n);
  const std::optional<Tensor> times = Scalar(type, static_cast<int32_t>(in.size()));
  const Sweep::Attrs attrs = TypeAttr(type);
  if (!times || !s.HasKernel(n, "Mul", attrs) || !s.HasConstKernel(n, type) || !s.Allow())
    return false;
  const Output factors[] = {x, s.AddConst(n, "times", *times)};
  s.Become(n, "Mul", factors, attrs);
  return true;
}

// x + x and (x + x) + x round once at most, as the products do.
bool SmallSumToMultiple(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  return (g.num_inputs(n) <= 3 || IsInteger(TypeOf(g, n))) && SumToMultiple(s, n);
}

// The operand that all inputs of n, products (or quotients) made for n alone, have at place `i` or,
// if they commute, elsewhere; and what it is combined with.
struct Factored {
  Output common;
  std::vector<Output> others;
};
std::optional<Factored> Factor(const Sweep& s, NodeId n, Output common, bool commutes) {
  const Graph& g = s.graph();
  Factored result{common, {}};
  for (const Output& in : g.data_inputs(n)) {
    const std::span<const Output> operands = g.data_inputs(in.node);
    if (operands[1] == common) {
      result.others.push_back(operands[0]);
    } else if (commutes && operands[0] == common) {
      result.others.push_back(operands[1]);
    } else {
      return std::nullopt;
    }
    if (!(s.shape(result.others.back()) == s.shape(result.others[0]))) return std::nullopt;
  }
  return result;
}

// x*y + x*z is x*(y+z), and y/x + z/x is (y+z)/x, where y and z have one shape. It rounds
// otherwise, and y+z may overflow where the products do not: hence kFastMath.
bool HoistCommonFactor(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const int terms = g.num_inputs(n);
  const std::string_view op = g.op_name(g.data_inputs(n)[0].node);
  if (terms < 2 || (op != "Mul" && op != "RealDiv")) return false;
  for (int i = 0; i < terms; ++i) {
    const NodeId term = OwnProducer(s, n, i, {op});
    if (term == kNoNode || !s.shape({term, 0}).fully_defined() ||
        !(s.shape({term, 0}) == s.shape({n, 0})))
      return false;
  }
  const std::span<const Output> first = g.data_inputs(g.data_inputs(n)[0].node);
  std::optional<Factored> found = Factor(s, n, first[1], op == "Mul");
  if (!found && op == "Mul") found = Factor(s, n, first[0], true);
  if (!found || !s.shape(found->others[0]).fully_defined()) return false;
  Sweep::Attrs attrs = TypeAttr(TypeOf(g, n));
  if (!s.HasKernel(n, op, attrs) || !s.Allow()) return false;
  const Output sum =
      s.Add(n, "sum", g.op_name(n), found->others, OpAttrs(g, n), s.shape(found->others[0]));
  const Output operands[] = {sum, found->common};
  s.Become(n, op, operands, std::move(attrs));
  return true;
}

// (x + y) + z is AddN(x, y, z) where nothing is broadcast: one pass over memory. A term that is a
// contraction stays outside, since remapping fuses the sum into it.
bool MergeAdditions(Sweep& s, NodeId n) {
  constexpr std::ptrdiff_t kMostTerms = 32;
  const Graph& g = s.graph();
  if (!s.shape({n, 0}).fully_defined()) return false;
  std::vector<Output> terms;
  for (int i = 0; i < g.num_inputs(n); ++i) {
    const Output in = g.data_inputs(n)[i];
    const NodeId inner = OwnProducer(s, n, i, {"Add", "AddV2", "AddN"});
    if (inner == kNoNode) {
      terms.push_back(in);
    } else {
      terms.insert(terms.end(), g.data_inputs(inner).begin(), g.data_inputs(inner).end());
    }
  }
  const auto fits = [&](Output o) {
    return s.shape(o) == s.shape({n, 0}) && !IsContraction(g, o.node);
  };
  if (std::ssize(terms) == g.num_inputs(n) || std::ssize(terms) > kMostTerms ||
      !std::all_of(terms.begin(), terms.end(), fits))
    return false;
  Sweep::Attrs attrs = TypeAttr(TypeOf(g, n));
  attrs.push_back({"N", attr::Int(std::ssize(terms))});
  if (!s.HasKernel(n, "AddN", attrs) || !s.Allow()) return false;
  s.Become(n, "AddN", terms, std::move(attrs));
  return true;
}

// What broadcasting two known shapes gives.
PartialShape Broadcast(const PartialShape& a, const PartialShape& b) {
  Dims dims(std::max(a.rank(), b.rank()));
  for (int i = 1; i <= static_cast<int>(dims.size()); ++i) {
    const int64_t x = i <= a.rank() ? a.dim(-i) : 1, y = i <= b.rank() ? b.dim(-i) : 1;
    dims[dims.size() - i] = x == 1 ? y : x;
  }
  return PartialShape(dims);
}

// (x + y) + z is x + (y + z) where y + z is smaller than x + y; so for products.
bool MinimizeBroadcasts(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (TypeOf(g, n) == DataType::kString) return false;  // their order counts
  for (int i : {0, 1}) {
    const NodeId inner = OwnProducer(s, n, i, {g.op_name(n)});
    if (inner == kNoNode) continue;
    const Output z = g.data_inputs(n)[1 - i];
    if (!s.shape(z).fully_defined() || !s.shape({inner, 0}).fully_defined()) continue;
    for (int j : {0, 1}) {
      const Output x = g.data_inputs(inner)[j], y = g.data_inputs(inner)[1 - j];
      if (!s.shape(y).fully_defined()) continue;
      const PartialShape small = Broadcast(s.shape(y), s.shape(z));
      if (small.num_elements() >= s.shape({inner, 0}).num_elements() || !s.Allow()) continue;
      const Output pair[] = {y, z};
      const Sweep::Attrs attrs = TypeAttr(TypeOf(g, n));
      const std::string_view op = g.op_name(n);
      const Output operands[] = {x, s.Add(n, "small", op, pair, attrs, small)};
      s.Become(n, op, operands, attrs);
      return true;
    }
  }
  return false;
}

constexpr Rewrite kAggregationRewrites[] = {
    {"small_sum_to_multiple", Exactness::kExact, SmallSumToMultiple, "Add AddV2 AddN"},
    {"sum_to_multiple", Exactness::kFastMath, SumToMultiple, "AddN"},
    {"hoist_common_factor", Exactness::kFastMath, HoistCommonFactor, "Add AddV2 AddN"},
    {"minimize_broadcasts", Exactness::kFastMath, MinimizeBroadcasts, "Add AddV2 Mul"},
    {"merge_additions", Exactness::kFastMath, MergeAdditions, "Add AddV2 AddN"},
};

}  // namespace

std::span<const Rewrite> Aggregation() { return kAggregationRewrites; }

}  // namespace tenon::arithmetic
