// What goes along axes: reductions, cumulative ops, segments.
#include <algorithm>

#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// --- Reductions over the axes that input 1 names.

// The axes as an int32 vector of numbers from 0 on.
Value AxesOf(GradientScope& s) {
  const Value rank = RankOf(s.x(0));
  const Value axes = Reshape(Cast(s.x(1), DataType::kInt32), s.builder().Ints({-1}));
  return Op("FloorMod", {axes + rank, rank});
}

// The axes, sorted out, if they and the rank are known.
std::optional<std::vector<int64_t>> KnownAxes(GradientScope& s) {
  std::optional<std::vector<int64_t>> axes = KnownInts(s.x(1));
  const int rank = s.x(0).rank();
  if (!axes || rank < 0) return std::nullopt;
  for (int64_t& axis : *axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  return axes;
}

// The shape of x with 1 for each reduced axis.
Value KeptShape(GradientScope& s) {
  const std::optional<std::vector<int64_t>> axes = KnownAxes(s);
  if (const std::optional<Shape> shape = s.x(0).shape().ToShape(); shape && axes) {
    std::vector<int64_t> kept(shape->dims().begin(), shape->dims().end());
    for (const int64_t axis : *axes) kept[axis] = 1;
    return s.builder().Ints(kept);
  }
  const Value axes_of = AxesOf(s), all = AllAxes(s.x(0));
  return Op("DynamicStitch", {all, axes_of, ShapeOf(s.x(0)), OnesLike(axes_of)});
}

// A value of the shape of the result, with the reduced axes of size 1.
Value Kept(GradientScope& s, Value value) {
  return s.Bool("keep_dims") ? value : Reshape(value, KeptShape(s));
}

Value OfSum(GradientScope& s) { return Op("BroadcastTo", {Kept(s, s.dy()), ShapeOf(s.x(0))}); }

// How many elements become one, as a scalar of the type of x.
Value ReducedCount(GradientScope& s) {
  const PartialShape shape = s.x(0).shape();
  const std::optional<std::vector<int64_t>> axes = KnownAxes(s);
  double count = 1;
  bool known = axes.has_value();
  for (size_t i = 0; known && i < axes->size(); ++i) {
    const int64_t size = shape.dim(static_cast<int>((*axes)[i]));
    known = size != kUnknownDim;
    count *= static_cast<double>(size);
  }
  if (known) return Number(s.x(0), count);
  const Value sizes = Gather(ShapeOf(s.x(0)), AxesOf(s));
  return Cast(Op("Prod", {sizes, s.builder().Ints({0})}), s.x(0).dtype());
}

Value OfMean(GradientScope& s) { return OfSum(s) / ReducedCount(s); }

// All elements that are the greatest share the gradient.
Value OfMax(GradientScope& s) {
  const Value x = s.x(0), is_chosen = Cast(Compare("Equal", Kept(s, s.y()), x), s.dy().dtype());
  const Value count = Sum(is_chosen, s.x(1), /*keep_dims=*/true);
  return is_chosen / count * Kept(s, s.dy());
}

// The product of all others is that of those before and that of those behind: division would fail
// at 0. The reduced axes are brought to the front and made one.
Value OfProd(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value x = s.x(0), shape = ShapeOf(x), reduced = AxesOf(s);
  const Value others = Op("ListDiff", {AllAxes(x), reduced});
  const Value order = Concat({reduced, others}, 0), zero = b.Scalar(DataType::kInt32, 0);
  const auto count = [&](Value axes) { return Op("Prod", {Gather(shape, axes), zero}); };
  const Value turned = Transpose(x, order);
  const Value rows = Reshape(turned, Op("Pack", {count(reduced), count(others)}));
  const Value before = Op("Cumprod", {rows, zero}, {{"exclusive", attr::Bool(true)}});
  const Value behind =
      Op("Cumprod", {rows, zero}, {{"exclusive", attr::Bool(true)}, {"reverse", attr::Bool(true)}});
  const Value rest = ReshapeLike(Conj(before) * Conj(behind), turned);
  return ReshapeLike(OfSum(s) * Transpose(rest, Op("InvertPermutation", {order})), x);
}

Value OfEuclideanNorm(GradientScope& s) { return s.x(0) / (Kept(s, s.y()) / Kept(s, s.dy())); }

// --- Cumulative ops along the axis of input 1.

NewAttrs Backwards(GradientScope& s) {
  return {{"exclusive", attr::Bool(s.Bool("exclusive"))},
          {"reverse", attr::Bool(!s.Bool("reverse"))}};
}

Value OfCumsum(GradientScope& s) { return Op("Cumsum", {s.dy(), s.x(1)}, Backwards(s)); }

Value OfCumprod(GradientScope& s) {
  return Op("DivNoNan", {Op("Cumsum", {s.y() * s.dy(), s.x(1)}, Backwards(s)), s.x(0)});
}

// log of the part of dy that is positive (of -dy: negative), the lowest number elsewhere.
Value LogOfPositive(Value dy) {
  const double lowest = dy.dtype() == DataType::kDouble ? std::numeric_limits<double>::lowest()
                        : dy.dtype() == DataType::kHalf ? -65504.0
                        : dy.dtype() == DataType::kBfloat16
                            ? -3.3895313892515355e38
                            : double{std::numeric_limits<float>::lowest()};
  return Select(Compare("Greater", dy, Number(dy, 0)), Op("Log", {dy}), Number(dy, lowest));
}

Value OfCumulativeLogsumexp(GradientScope& s) {
  const auto part = [&](Value dy) {
    return Op("Exp", {Op("CumulativeLogsumexp", {LogOfPositive(dy) - s.y(), s.x(1)}, Backwards(s)) +
                      s.x(0)});
  };
  return part(s.dy()) - part(-s.dy());
}

// --- Segments: input 1 says for each row of x to which row of the result it goes.

Value OfSegmentSum(GradientScope& s) { return Gather(s.dy(), s.x(1)); }

Value OfSegmentMean(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value more = Fill(ExpandDims(RankOf(s.x(0)) - 1.0, 0), b.Scalar(DataType::kInt32, 1));
  const Value ones = Fill(Concat({ShapeOf(s.x(1)), more}, 0), Number(s.dy(), 1));
  return Gather(s.dy() / Op("SegmentSum", {ones, s.x(1)}), s.x(1));
}

Value OfSegmentMax(GradientScope& s) {
  const Value x = s.x(0), ids = s.x(1), is_chosen = Compare("Equal", x, Gather(s.y(), ids));
  const Value count = Op("SegmentSum", {Cast(is_chosen, s.dy().dtype()), ids});
  return Select(is_chosen, Gather(s.dy() / count, ids), ZerosLike(x));
}

// What the rules for products of segments need beside the way to gather: `sum` and `prod` make
// segments of rows.
struct ProductParts {
  Value dy, partial;
};

// The derivative is the product divided by the element, for a single 0 in a segment the product of
// the others, and 0 if a segment has more of them.
template <typename Segment, typename GatherRows>
ProductParts PartsOfProduct(GradientScope& s, const Segment& segment, const GatherRows& gather,
                            std::string_view sum, std::string_view prod) {
  const Value x = s.x(0), is_zero = Compare("Equal", x, Number(x, 0));
  const Value zeros = segment(sum, Cast(is_zero, DataType::kInt32));
  const Value dy = Select(Compare("Greater", zeros, Number(zeros, 1)), Number(s.dy(), 0), s.dy());
  const Value not_zero = Select(is_zero, Number(x, 1), x);
  const Value without_zeros = segment(prod, not_zero);
  return {dy, Select(is_zero, gather(without_zeros), gather(s.y()) / not_zero)};
}

Value OfSegmentProd(GradientScope& s) {
  const auto segment = [&](std::string_view op, Value rows) { return Op(op, {rows, s.x(1)}); };
  const auto gather = [&](Value rows) { return Gather(rows, s.x(1)); };
  const ProductParts parts = PartsOfProduct(s, segment, gather, "SegmentSum", "SegmentProd");
  return gather(parts.dy) * parts.partial;
}

// Segments in any order; a negative number belongs to none.
Value Clipped(Value ids) { return Op("Maximum", {ids, Number(ids, 0)}); }

// Whether an id belongs to a segment, with axes of size 1 behind, to go with rows.
Value Belongs(Value ids, Value rows) {
  GraphBuilder& b = ids.builder();
  const Value belongs = Compare("GreaterEqual", ids, Number(ids, 0));
  if (ids.rank() >= 0 && ids.rank() == rows.rank()) return belongs;
  const Value more = ExpandDims(RankOf(rows) - RankOf(ids), 0);
  return Reshape(belongs, Concat({ShapeOf(ids), Fill(more, b.Scalar(DataType::kInt32, 1))}, 0));
}

Value GatherSegments(Value values, Value ids) {
  const Value rows = Gather(values, Clipped(ids));
  return Select(Belongs(ids, rows), rows, Number(rows, 0));
}

Value OfUnsortedSegmentSum(GradientScope& s) { return GatherSegments(s.dy(), s.x(1)); }

Value OfUnsortedSegmentMax(GradientScope& s) {
  const Value x = s.x(0), ids = s.x(1);
  const Value is_equal = Compare("Equal", x, GatherSegments(s.y(), ids));
  const Value is_chosen = Op("LogicalAnd", {is_equal, Belongs(ids, x)});
  const Value count = Op("UnsortedSegmentSum", {Cast(is_chosen, s.dy().dtype()), ids, s.x(2)});
  return Select(is_chosen, GatherSegments(s.dy() / count, ids), Number(x, 0));
}

Value OfUnsortedSegmentProd(GradientScope& s) {
  const auto segment = [&](std::string_view op, Value rows) {
    return Op(op, {rows, s.x(1), s.x(2)});
  };
  const auto gather = [&](Value rows) { return Gather(rows, Clipped(s.x(1))); };
  const ProductParts parts =
      PartsOfProduct(s, segment, gather, "UnsortedSegmentSum", "UnsortedSegmentProd");
  return GatherSegments(parts.dy, s.x(1)) * parts.partial;
}

// --- Sparse segments: rows of x that input 1 names go to the segments of input 2. `kGrad` is the
// op that brings them back.

template <const char* kGrad, const char* kSlicesGrad>
void SparseSegmentGradient(GradientScope& s) {
  const Value rows = DimOf(s.x(0), 0);
  if (!s.Bool("sparse_gradient")) {
    s.Set(0, Op(kGrad, {s.dy(), s.x(1), s.x(2), rows}));
    return;
  }
  const NodeId n = s.builder().AddNode(kSlicesGrad, {s.dy(), s.x(1), s.x(2), rows});
  s.Set(0, Slices{s.builder().At(n, 0), s.builder().At(n, 1), ShapeOf(s.x(0))});
}

constexpr char kSum[] = "SparseSegmentSumGrad", kSumV2[] = "SparseSegmentSumGradV2",
               kMean[] = "SparseSegmentMeanGrad", kMeanV2[] = "SparseSegmentMeanGradV2",
               kSqrtN[] = "SparseSegmentSqrtNGrad", kSqrtNV2[] = "SparseSegmentSqrtNGradV2";

constexpr GradientRow kReduction[] = {
    {"All", nullptr},
    {"Any", nullptr},
    {"ArgMax", nullptr},
    {"ArgMin", nullptr},
    {"Cumprod", Unary<OfCumprod>},
    {"Cumsum", Unary<OfCumsum>},
    {"CumulativeLogsumexp", Unary<OfCumulativeLogsumexp>},
    {"EuclideanNorm", Unary<OfEuclideanNorm>},
    {"Max", Unary<OfMax>},
    {"Mean", Unary<OfMean>},
    {"Min", Unary<OfMax>},
    {"Prod", Unary<OfProd>},
    {"SegmentMax", Unary<OfSegmentMax>},
    {"SegmentMean", Unary<OfSegmentMean>},
    {"SegmentMin", Unary<OfSegmentMax>},
    {"SegmentProd", Unary<OfSegmentProd>},
    {"SegmentSum", Unary<OfSegmentSum>},
    {"SparseSegmentMean", SparseSegmentGradient<kMean, kMeanV2>},
    {"SparseSegmentMeanWithNumSegments", SparseSegmentGradient<kMean, kMeanV2>},
    {"SparseSegmentSqrtN", SparseSegmentGradient<kSqrtN, kSqrtNV2>},
    {"SparseSegmentSqrtNWithNumSegments", SparseSegmentGradient<kSqrtN, kSqrtNV2>},
    {"SparseSegmentSum", SparseSegmentGradient<kSum, kSumV2>},
    {"SparseSegmentSumWithNumSegments", SparseSegmentGradient<kSum, kSumV2>},
    {"Sum", Unary<OfSum>},
    {"UnsortedSegmentMax", Unary<OfUnsortedSegmentMax>},
    {"UnsortedSegmentMin", Unary<OfUnsortedSegmentMax>},
    {"UnsortedSegmentProd", Unary<OfUnsortedSegmentProd>},
    {"UnsortedSegmentSum", Unary<OfUnsortedSegmentSum>},
};

}  // namespace

absl::Span<const GradientRow> Reduction() { return kReduction; }

}  // namespace tenon::gradients
