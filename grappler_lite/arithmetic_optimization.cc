// Removes arithmetic and data movement that changes nothing or cancels out. One small function per
// rewrite; kRewrites lists them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "grappler_lite/pass.h"
#include "grappler_lite/rewriter.h"

namespace tenon {
namespace {

bool OpIs(const Graph& g, NodeId n, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    if (g.op_name(n) == name) return true;
  }
  return false;
}

// Whether combining tensor `x` with constant `c` elementwise keeps x's shape.
bool KeepsShape(const Sweep& s, Output x, const Tensor& c) {
  const PartialShape shape = s.shape(x);
  if (c.num_elements() == 1) return c.shape().rank() == 0 || shape.rank() >= c.shape().rank();
  const std::optional<Shape> known = shape.ToShape();
  return known && *known == c.shape();
}

// n = x op c with every element of c equal to v: n is x.
bool RemoveNeutral(Sweep& s, NodeId n, int x, double v) {
  const Graph& g = s.graph();
  const Output operand = g.data_inputs(n)[x];
  const Output constant = g.data_inputs(n)[1 - x];
  const std::optional<Tensor> c = s.ConstOf(constant);
  return c && s.IsSplat(constant, v) && KeepsShape(s, operand, *c) && s.ReplaceBy(n, operand);
}

bool RemoveMulByOne(Sweep& s, NodeId n) {
  return OpIs(s.graph(), n, {"Mul"}) && (RemoveNeutral(s, n, 0, 1) || RemoveNeutral(s, n, 1, 1));
}

bool RemoveDivByOne(Sweep& s, NodeId n) {
  return OpIs(s.graph(), n, {"RealDiv", "Div"}) && RemoveNeutral(s, n, 0, 1);
}

bool RemovePowOne(Sweep& s, NodeId n) {
  return OpIs(s.graph(), n, {"Pow"}) && RemoveNeutral(s, n, 0, 1);
}

bool IsIntegral(const Graph& g, NodeId n) { return IsInteger(g.output_type({n, 0})); }

// The sign of every zero in a floating constant: +1, -1, or 0 when they differ or it is not one.
int SignOfZeros(const Sweep& s, Output o) {
  const std::optional<Tensor> t = s.ConstOf(o);
  if (!t || t->dtype() != DataType::kFloat || t->num_elements() == 0) return 0;
  int sign = 0;
  for (int64_t i = 0; i < t->num_elements(); ++i) {
    float v;
    std::memcpy(&v, static_cast<const char*>(t->data()) + i * sizeof(v), sizeof(v));
    const int this_sign = std::signbit(v) ? -1 : 1;
    if (v != 0 || (sign != 0 && sign != this_sign)) return 0;
    sign = this_sign;
  }
  return sign;
}

// x - (+0) is x for every x; x - (-0) turns -0 into +0. Integers have one zero.
bool RemoveSubZero(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!OpIs(g, n, {"Sub"})) return false;
  return (IsIntegral(g, n) || SignOfZeros(s, g.data_inputs(n)[1]) > 0) && RemoveNeutral(s, n, 0, 0);
}

// x + (-0) is x for every x; x + (+0) turns -0 into +0, so it is dropped for integers only.
bool RemoveAddZero(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!OpIs(g, n, {"Add", "AddV2"})) return false;
  for (int x : {0, 1}) {
    if ((IsIntegral(g, n) || SignOfZeros(s, g.data_inputs(n)[1 - x]) < 0) &&
        RemoveNeutral(s, n, x, 0))
      return true;
  }
  return false;
}

// x + (+0), which gives +0 for -0.
bool RemoveAddPositiveZero(Sweep& s, NodeId n) {
  return OpIs(s.graph(), n, {"Add", "AddV2"}) &&
         (RemoveNeutral(s, n, 0, 0) || RemoveNeutral(s, n, 1, 0));
}

// f(f(x)) is x.
bool RemoveInvolution(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!OpIs(g, n, {"Neg", "LogicalNot", "Invert", "Conj"})) return false;
  const NodeId inner = g.data_inputs(n)[0].node;
  return g.op_name(inner) == g.op_name(n) && !s.fed(inner) && g.control_inputs(inner).empty() &&
         s.ReplaceBy(n, g.data_inputs(inner)[0]);
}

// f(f(x)) is f(x).
bool RemoveIdempotent(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!OpIs(g, n, {"Relu", "Relu6", "Abs", "Floor", "Ceil", "Rint", "Sign"})) return false;
  const NodeId inner = g.data_inputs(n)[0].node;
  return g.op_name(inner) == g.op_name(n) && !s.fed(inner) && s.ReplaceBy(n, g.data_inputs(n)[0]);
}

bool RemoveRedundantCast(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  return OpIs(g, n, {"Cast", "Bitcast"}) && g.input_type(n, 0) == g.output_type({n, 0}) &&
         s.ReplaceBy(n, g.data_inputs(n)[0]);
}

// Shapes that are equal in every run: known alike, with at most one dimension left to follow from
// the number of elements.
bool SameShape(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !(a == b)) return false;
  int unknown = 0;
  for (int64_t d : a.dims()) {
    if (d == 0) return false;  // a missing dimension would not follow
    unknown += d < 0;
  }
  return unknown <= 1;
}

// The elements of the known dimensions, and how many are unknown; nullopt if the product overflows.
struct ElementCount {
  int64_t known = 1;
  int unknown = 0;
};
std::optional<ElementCount> CountElements(absl::Span<const int64_t> dims) {
  ElementCount count;
  for (int64_t d : dims) {
    if (d < 0) {
      ++count.unknown;
    } else if (__builtin_mul_overflow(count.known, d, &count.known)) {
      return std::nullopt;
    }
  }
  return count;
}

// Whether whatever n reads beside its first input is constant, and waits for nothing.
bool RestIsConst(const Sweep& s, NodeId n) {
  const std::span<const Output> rest = s.graph().data_inputs(n).subspan(1);
  return std::all_of(rest.begin(), rest.end(), [&](Output o) { return s.ConstOf(o).has_value(); });
}

// Whether Reshape n gives its elements a shape that fits them in every run.
bool ReshapeCannotFail(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const PartialShape from = s.shape(g.data_inputs(n)[0]);
  const std::optional<Tensor> to = s.ConstOf(g.data_inputs(n)[1], kMaxRank);
  if (!from.known_rank() || !to || !IsInteger(to->dtype())) return false;
  Dims dims;
  for (int64_t i = 0; i < to->num_elements(); ++i) dims.push_back(to->IntAt(i));
  const std::optional<ElementCount> in = CountElements(from.dims());
  const std::optional<ElementCount> out = CountElements(dims);
  if (!in || !out || out->unknown > 1) return false;
  if (out->unknown == 0) return in->unknown == 0 && in->known == out->known;
  return out->known > 0 && in->known % out->known == 0;
}

// Whether an op that only gives its elements another shape does so in every run.
bool ShapeOpCannotFail(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (OpIs(g, n, {"Reshape"})) return ReshapeCannotFail(s, n);
  const PartialShape in = s.shape(g.data_inputs(n)[0]), out = s.shape({n, 0});
  if (!in.known_rank() || !out.known_rank()) return false;
  const std::optional<ElementCount> before = CountElements(in.dims());
  const std::optional<ElementCount> after = CountElements(out.dims());
  return before && after && before->known == after->known && before->unknown == after->unknown;
}

// Ops that only give the elements another shape, or move none, when the shape stays.
bool RemoveRedundantReshape(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!OpIs(g, n, {"Reshape", "Squeeze", "ExpandDims", "EnsureShape"})) return false;
  const Output x = g.data_inputs(n)[0];
  return SameShape(s.shape(x), s.shape({n, 0})) && ShapeOpCannotFail(s, n) && s.ReplaceBy(n, x);
}

// Only the last of two reshapes counts.
bool MergeReshapes(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  if (!OpIs(g, n, {"Reshape"})) return false;
  const Output inner = g.data_inputs(n)[0];
  if (!OpIs(g, inner.node, {"Reshape", "Squeeze", "ExpandDims"}) || s.fed(inner.node) ||
      !g.control_inputs(inner.node).empty() || g.device(inner.node) != g.device(n) ||
      !RestIsConst(s, inner.node) || !ShapeOpCannotFail(s, inner.node) || !s.Allow()) {
    return false;
  }
  g.SetInput(n, 0, g.data_inputs(inner.node)[0]);
  return true;
}

// Data movement that, on fully known shapes, moves nothing.
bool RemoveFullSlice(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!OpIs(g, n, {"Slice", "Pad", "PadV2", "MirrorPad", "Tile", "BroadcastTo"})) return false;
  if (!RestIsConst(s, n)) return false;
  const Output x = g.data_inputs(n)[0];
  const std::optional<Shape> in = s.shape(x).ToShape();
  const std::optional<Shape> out = s.shape({n, 0}).ToShape();
  return in && out && *in == *out && in->num_elements() > 0 && s.ReplaceBy(n, x);
}

// Whether constant `axis` is a dimension of x.
bool AxisFits(const Sweep& s, Output axis, Output x) {
  const std::optional<Tensor> value = s.ConstOf(axis, 1);
  const PartialShape shape = s.shape(x);
  if (!value || value->num_elements() != 1 || !shape.known_rank()) return false;
  return value->IntAt(0) >= -shape.rank() && value->IntAt(0) < shape.rank();
}

bool RemoveSingleElementList(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (OpIs(g, n, {"AddN"}) && g.num_inputs(n) == 1) return s.ReplaceBy(n, g.data_inputs(n)[0]);
  if (OpIs(g, n, {"ConcatV2"}) && g.num_inputs(n) == 2) {
    return AxisFits(s, g.data_inputs(n)[1], g.data_inputs(n)[0]) &&
           s.ReplaceBy(n, g.data_inputs(n)[0]);
  }
  if (OpIs(g, n, {"Split"}) && g.num_outputs(n) == 1) {
    return AxisFits(s, g.data_inputs(n)[0], g.data_inputs(n)[1]) &&
           s.ReplaceBy(n, g.data_inputs(n)[1]);
  }
  return false;
}

// Of a Transpose that cannot fail.
std::optional<Dims> Permutation(const Sweep& s, NodeId n) {
  const std::optional<Tensor> t = s.ConstOf(s.graph().data_inputs(n)[1], kMaxRank);
  if (!t || (t->dtype() != DataType::kInt32 && t->dtype() != DataType::kInt64)) return std::nullopt;
  const int64_t rank = t->num_elements();
  const PartialShape shape = s.shape(s.graph().data_inputs(n)[0]);
  if (!shape.known_rank() || shape.rank() != rank) return std::nullopt;
  Dims perm;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t p = t->IntAt(i) < 0 ? t->IntAt(i) + rank : t->IntAt(i);
    if (p < 0 || p >= rank) return std::nullopt;
    perm.push_back(p);
  }
  return perm;
}

bool IsIdentityPermutation(const Dims& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool RemoveIdentityTranspose(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!OpIs(g, n, {"Transpose"})) return false;
  const std::optional<Dims> perm = Permutation(s, n);
  return perm && IsIdentityPermutation(*perm) && s.ReplaceBy(n, g.data_inputs(n)[0]);
}

bool CancelTransposes(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!OpIs(g, n, {"Transpose"})) return false;
  const NodeId inner = g.data_inputs(n)[0].node;
  if (!OpIs(g, inner, {"Transpose"}) || s.fed(inner) || !g.control_inputs(inner).empty())
    return false;
  const std::optional<Dims> outer_perm = Permutation(s, n);
  const std::optional<Dims> inner_perm = Permutation(s, inner);
  if (!outer_perm || !inner_perm || outer_perm->size() != inner_perm->size()) return false;
  Dims both;
  for (int64_t p : *outer_perm) both.push_back((*inner_perm)[p]);
  return IsIdentityPermutation(both) && s.ReplaceBy(n, g.data_inputs(inner)[0]);
}

// x, if n is Pow(x, v) of x's shape.
std::optional<Output> BaseOfPow(const Sweep& s, NodeId n, double v) {
  const Graph& g = s.graph();
  if (!OpIs(g, n, {"Pow"}) || !s.IsSplat(g.data_inputs(n)[1], v)) return std::nullopt;
  const Output x = g.data_inputs(n)[0];
  return KeepsShape(s, x, *s.ConstOf(g.data_inputs(n)[1])) ? std::optional(x) : std::nullopt;
}

// Makes n an `op` of these inputs, of its own type.
void BecomeOf(Graph& g, NodeId n, std::string_view op, std::span<const Output> inputs) {
  const std::string type = attr::Type(g.output_type({n, 0}));
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  g.SetKind(n, op, {{"T", type}});
  g.SetInputs(n, inputs, controls);
}

bool HasKernelLike(const Sweep& s, NodeId n, std::string_view op) {
  const std::string type = attr::Type(s.graph().output_type({n, 0}));
  return s.context().kernels.HasKernel(s.graph().device(n), op, AttrSet({{"T", AttrValue(type)}}));
}

// Pow(x, 2) is Square(x).
bool PowToSquare(Sweep& s, NodeId n) {
  const std::optional<Output> x = BaseOfPow(s, n, 2);
  if (!x || !HasKernelLike(s, n, "Square") || !s.Allow()) return false;
  BecomeOf(s.graph(), n, "Square", {&*x, 1});
  return true;
}

// Pow(x, 3) is Mul(x, Square(x)), as in TensorFlow.
bool PowToCube(Sweep& s, NodeId n) {
  Graph& g = s.graph();
  const std::optional<Output> x = BaseOfPow(s, n, 3);
  if (!x || !HasKernelLike(s, n, "Square") || !HasKernelLike(s, n, "Mul") || !s.Allow())
    return false;
  const absl::StatusOr<NodeId> square =
      g.AddNode(g.UniqueName(absl::StrCat(g.name(n), "/square")), "Square", {&*x, 1},
                {{"T", attr::Type(g.output_type({n, 0}))}}, g.device(n), g.pos(n));
  if (!square.ok()) return false;
  const Output factors[] = {*x, {*square, 0}};
  BecomeOf(g, n, "Mul", factors);
  return true;
}

constexpr Rewrite kRewrites[] = {
    {"remove_mul_by_one", Exactness::kExact, RemoveMulByOne},
    {"remove_div_by_one", Exactness::kExact, RemoveDivByOne},
    {"remove_pow_one", Exactness::kExact, RemovePowOne},
    {"remove_sub_zero", Exactness::kExact, RemoveSubZero},
    {"remove_add_zero", Exactness::kExact, RemoveAddZero},
    {"remove_add_positive_zero", Exactness::kFastMath, RemoveAddPositiveZero},
    {"remove_involution", Exactness::kExact, RemoveInvolution},
    {"remove_idempotent", Exactness::kExact, RemoveIdempotent},
    {"remove_redundant_cast", Exactness::kExact, RemoveRedundantCast},
    {"remove_redundant_reshape", Exactness::kExact, RemoveRedundantReshape},
    {"merge_reshapes", Exactness::kExact, MergeReshapes},
    {"remove_full_slice", Exactness::kExact, RemoveFullSlice},
    {"remove_single_element_list", Exactness::kExact, RemoveSingleElementList},
    {"remove_identity_transpose", Exactness::kExact, RemoveIdentityTranspose},
    {"cancel_transposes", Exactness::kExact, CancelTransposes},
    {"pow_to_square", Exactness::kToleranced, PowToSquare},
    {"pow_to_cube", Exactness::kToleranced, PowToCube},
};

class ArithmeticOptimization : public Pass {
 public:
  std::string_view name() const override { return "arithmetic_optimization"; }
  std::vector<RewriteInfo> rewrites() const override { return InfosOf(kRewrites); }

  absl::StatusOr<bool> Run(PassContext& context) override {
    const absl::StatusOr<GraphShapes> shapes = InferForPass(context);
    return Sweep(context, shapes.ok() ? &*shapes : nullptr).Run(kRewrites);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeArithmeticOptimization() {
  return std::make_unique<ArithmeticOptimization>();
}

}  // namespace tenon
