// Sorts, and searches in what is sorted.
#include <algorithm>

#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace sort_ops {
namespace {

// Whether x comes before y. Zeros of both signs are equal; NaN is above all else.
Value Before(Op& op, Value x, Value y, bool descending) {
  if (IsFloating(x.dtype)) {
    const Value zero = op.b.Scalar(x.dtype, 0);
    // A sum with 0 would do, but XLA leaves it out.
    x = op.b.Select(op.b.Compare("EQ", x, zero), zero, x);
    y = op.b.Select(op.b.Compare("EQ", y, zero), zero, y);
  }
  return op.b.Compare(descending ? "GT" : "LT", x, y, true);
}

// x and the places of its elements, sorted along the last axis.
Values SortedWithPlaces(Op& op, const Value& x, DataType index, bool descending) {
  const int64_t last = x.rank() - 1;
  return op.b.Sort(
      {x, op.b.Iota(index, x.shape, last)}, last,
      [&](absl::Span<const Value> v) -> Values { return {Before(op, v[0], v[1], descending)}; });
}

absl::Status TopK(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value& x = op.In(0);
  const int64_t k = shape.dim(shape.rank() - 1);
  if (shape.num_elements() == 0) {
    op.Out(0, op.b.Full(x.dtype, shape, 0));
    op.Out(1, op.b.Full(op.OutType(1), shape, 0));
    return absl::OkStatus();
  }
  const Values sorted = SortedWithPlaces(op, x, DataType::kInt32, true);
  op.Out(0, op.b.SliceAxis(sorted[0], x.rank() - 1, 0, k));
  op.Out(1, op.b.Convert(op.b.SliceAxis(sorted[1], x.rank() - 1, 0, k), op.OutType(1)));
  return absl::OkStatus();
}

// The n-th element of each row, from below or, with `reverse`, from above.
absl::Status NthElement(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  TENON_ASSIGN_OR_RETURN(const bool reverse, op.Bool("reverse"));
  TENON_ASSIGN_OR_RETURN(const int64_t n, op.IntOf(1));
  const Value& x = op.In(0);
  const int last = x.rank() - 1;
  if (n < 0 || n >= x.shape.dim(last)) return op.Invalid("there is no such element");
  const Values sorted = op.b.Sort({x}, last, [&](absl::Span<const Value> v) -> Values {
    return {Before(op, v[0], v[1], reverse)};
  });
  return op.Out(op.b.Reshape(op.b.SliceAxis(sorted[0], last, n, n + 1), shape));
}

// predictions [rows, classes], targets [rows], k
absl::Status InTopK(Op& op) {
  const Value &x = op.In(0), &targets = op.In(1);
  const int64_t classes = x.shape.dim(1);
  const Value wide = op.b.Broadcast(targets, x.shape, {0});
  const Value hit = op.b.Compare("EQ", wide, op.b.Iota(targets.dtype, x.shape, 1));
  const Value zero = op.b.Like(x, 0);
  const Value own = op.b.Reduce("add", op.b.Select(hit, x, zero), op.b.Scalar(x.dtype, 0), {1});
  const Value above = op.b.Compare("GT", x, op.b.Broadcast(own, x.shape, {0}));
  const Value count = op.b.Reduce("add", op.b.Convert(above, DataType::kInt64),
                                  op.b.Scalar(DataType::kInt64, 0), {1});
  const Value yes = op.b.Scalar(DataType::kBool, 1);
  const Value finite = op.b.Reduce("and", op.b.IsFinite(x), yes, {1});
  const Value inside = op.b.And(op.b.Compare("GE", targets, 0.0),
                                op.b.Compare("LT", targets, static_cast<double>(classes)));
  Value most;
  if (op.num_inputs() > 2) {
    most = op.b.Convert(op.In(2), DataType::kInt64);
  } else {
    TENON_ASSIGN_OR_RETURN(const int64_t given, op.Int("k"));
    most = op.b.ScalarInt(DataType::kInt64, given);
  }
  const Value k = op.b.Broadcast(most, count.shape, {});
  return op.Out(op.b.And(op.b.And(op.b.Compare("LT", count, k), finite), inside));
}

constexpr int64_t kMostCompared = int64_t{1} << 26;

// How many of the sorted elements [rows, n] are below (or not above) each value [rows, m].
absl::StatusOr<Value> CountBelow(Op& op, const Value& sorted, const Value& values, bool equal_too,
                                 DataType type) {
  const int64_t rows = values.shape.dim(0), m = values.shape.dim(1), n = sorted.shape.dim(1);
  const Shape all({rows, m, n});
  if (all.num_elements() > kMostCompared) return op.Unimplemented("so many comparisons");
  const Value s = op.b.Broadcast(sorted, all, {0, 2}), v = op.b.Broadcast(values, all, {0, 1});
  // A NaN is above all.
  const Value below = equal_too ? op.b.Not(op.b.Compare("LT", v, s)) : op.b.Compare("LT", s, v);
  return op.b.Reduce("add", op.b.Convert(below, type), op.b.Scalar(type, 0), {2});
}

template <bool kUpper>
absl::Status Bound(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value counts,
                         CountBelow(op, op.In(0), op.In(1), kUpper, op.OutType(0)));
  return op.Out(counts);
}

absl::Status Bucketize(Op& op) {
  TENON_ASSIGN_OR_RETURN(const AttrValue list, op.shapes().AttrOf("boundaries"));
  TENON_ASSIGN_OR_RETURN(const std::vector<float> boundaries, list.AsFloatList());
  if (!std::ranges::is_sorted(boundaries)) return op.Invalid("the boundaries are not sorted");
  const Value& x = op.In(0);
  const int64_t n = x.shape.num_elements(), m = static_cast<int64_t>(boundaries.size());
  const DataType type = x.dtype == DataType::kDouble ? x.dtype : DataType::kFloat;
  const Value line = op.b.Convert(
      op.Constant(Tensor::Of<float>(DataType::kFloat, boundaries, Shape({1, m}))), type);
  const Value values = op.b.Reshape(op.b.Convert(x, type), Shape({1, n}));
  TENON_ASSIGN_OR_RETURN(const Value counts, CountBelow(op, line, values, true, DataType::kInt32));
  return op.Out(op.b.Reshape(counts, x.shape));
}

constexpr Row kRows[] = {
    {"TopK", TopK, kReals},
    {"TopKV2", TopK, kReals, In(1)},
    {"NthElement", NthElement, kReals, In(1)},
    {"InTopK", InTopK, kReals | kBools},
    {"InTopKV2", InTopK, kReals | kBools},
    {"LowerBound", Bound<false>, kReals},
    {"UpperBound", Bound<true>, kReals},
    {"Bucketize", Bucketize, kReals},
};

}  // namespace
}  // namespace sort_ops

Rows SortRows() { return sort_ops::kRows; }

}  // namespace tenon::stablehlo
