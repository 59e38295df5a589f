// Reductions, searches for extremes, and running sums.
#include <limits>

#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace reduction_ops {
namespace {

// Sets the output to the reduced value, with axes of size 1 where they are kept.
absl::Status Finish(Op& op, const Value& v) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return op.Out(op.b.Convert(op.b.Reshape(v, shape), op.OutType(0)));
}

enum class Start : uint8_t { kZero, kOne, kLowest, kHighest };

template <OpName kName, Start kStart>
absl::Status Reduce(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints axes, op.AxesOf(1, op.InRank(0)));
  const Value x = op.b.Wide(op.In(0));
  Value init;
  switch (kStart) {
    case Start::kZero:
      init = op.b.Scalar(x.dtype, 0);
      break;
    case Start::kOne:
      init = op.b.Scalar(x.dtype, 1);
      break;
    case Start::kLowest:
      init = op.b.Lowest(x.dtype, Shape());
      break;
    case Start::kHighest:
      init = op.b.Highest(x.dtype, Shape());
      break;
  }
  return Finish(op, op.b.Reduce(kName.text, x, init, axes));
}

absl::Status Mean(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints axes, op.AxesOf(1, op.InRank(0)));
  // TensorFlow sums integers in 64 bits.
  const DataType type = op.InType(0);
  const Value x = !IsInteger(type)      ? op.b.Wide(op.In(0))
                  : IsUnsignedInt(type) ? op.b.Convert(op.In(0), DataType::kUint64)
                                        : op.b.Convert(op.In(0), DataType::kInt64);
  int64_t count = 1;
  for (const int64_t axis : axes) count *= x.shape.dim(static_cast<int>(axis));
  if (count == 0 && !IsFloating(x.dtype))
    return op.Unimplemented("a mean of no integers or complex numbers");
  const Value sum = op.b.Reduce("add", x, op.b.Scalar(x.dtype, 0), axes);
  return Finish(op, op.b.Div(sum, op.b.FullInt(sum.dtype, sum.shape, count)));
}

absl::Status EuclideanNorm(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints axes, op.AxesOf(1, op.InRank(0)));
  const Value x = op.b.Wide(op.In(0));
  Value squares = op.b.Mul(x, x);
  if (IsComplex(x.dtype)) {
    const Value magnitude = op.b.AbsComplex(x);
    squares = op.b.Mul(magnitude, magnitude);
  }
  const Value sum = op.b.Reduce("add", squares, op.b.Scalar(squares.dtype, 0), axes);
  Value norm = op.b.Unary("sqrt", sum);
  if (IsComplex(x.dtype)) norm = op.b.Complex(norm, op.b.Like(norm, 0));
  return Finish(op, norm);
}

// The index of the greatest (least) element: of equal ones the first.
template <bool kGreatest>
absl::Status ArgExtreme(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, op.AxisOf(1, op.InRank(0)));
  const Value& x = op.In(0);
  if (x.shape.dim(static_cast<int>(axis)) == 0) return op.Invalid("an axis has no elements");
  const DataType type = op.OutType(0);
  const Value places = op.b.Iota(type, x.shape, axis);
  const Value init = kGreatest ? op.b.Lowest(x.dtype, Shape()) : op.b.Highest(x.dtype, Shape());
  const Values out = op.b.ReduceMany(
      {x, places}, {init, op.b.Scalar(type, 0)}, {axis}, [&](absl::Span<const Value> v) -> Values {
        const Value better = op.b.Compare(kGreatest ? "GT" : "LT", v[0], v[2]);
        const Value same = op.b.Compare("EQ", v[0], v[2]);
        const Value first = op.b.Compare("LT", v[1], v[3]);
        const Value left = op.b.Or(better, op.b.And(same, first));
        return {op.b.Select(better, v[0], v[2]), op.b.Select(left, v[1], v[3])};
      });
  return op.Out(out[1]);
}

// --- Running sums: in log2(n) steps, each element and the one `step` before it become one.

using Combine = Value (*)(Op& op, const Value& x, const Value& y);

Value Running(Op& op, Value x, int axis, const Value& neutral, Combine combine) {
  const int64_t n = x.shape.dim(axis);
  for (int64_t step = 1; step < n; step *= 2) {
    Ints low(x.rank(), 0), high(x.rank(), 0);
    low[axis] = step;
    high[axis] = -step;
    x = combine(op, x, op.b.Pad(x, neutral, low, high));
  }
  return x;
}

// The same, one element after the other: sums of half and bfloat16 show the order.
Value OneByOne(Op& op, const Value& x, int axis, Combine combine) {
  Values parts = {op.b.SliceAxis(x, axis, 0, 1)};
  for (int64_t i = 1; i < x.shape.dim(axis); ++i)
    parts.push_back(combine(op, parts.back(), op.b.SliceAxis(x, axis, i, i + 1)));
  return op.b.Concat(parts, axis);
}

Value Plus(Op& op, const Value& x, const Value& y) { return op.b.Add(x, y); }
Value Times(Op& op, const Value& x, const Value& y) { return op.b.Mul(x, y); }

// log(exp(x) + exp(y)); -inf stands for nothing.
Value LogPlus(Op& op, const Value& x, const Value& y) {
  const Value most = op.b.Max(x, y), least = op.b.Min(x, y);
  const Value tail = op.b.Unary("log_plus_one", op.b.Unary("exponential", op.b.Sub(least, most)));
  const Value none = op.b.Compare("EQ", least, op.b.Lowest(x.dtype, x.shape));
  return op.b.Select(none, most, op.b.Add(most, tail));
}

absl::Status Scan(Op& op, double neutral, Combine combine) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, op.AxisOf(1, op.InRank(0)));
  TENON_ASSIGN_OR_RETURN(const bool exclusive, op.Bool("exclusive"));
  TENON_ASSIGN_OR_RETURN(const bool reverse, op.Bool("reverse"));
  Value x = op.In(0);
  const int at = static_cast<int>(axis);
  if (x.shape.num_elements() == 0) return op.Out(op.In(0));
  if (op.Known(1)->shape().rank() != 0) return op.Invalid("the axis must be a scalar");
  const Value start = op.b.Scalar(x.dtype, neutral);
  if (reverse) x = op.b.Reverse(x, {axis});
  if (exclusive) {
    Ints low(x.rank(), 0), high(x.rank(), 0);
    low[at] = 1;
    high[at] = -1;
    x = op.b.Pad(x, start, low, high);
  }
  constexpr int64_t kMostWritten = 1024;
  const bool narrow = (x.dtype == DataType::kHalf || x.dtype == DataType::kBfloat16) &&
                      x.shape.dim(at) <= kMostWritten;
  x = narrow ? OneByOne(op, x, at, combine) : Running(op, x, at, start, combine);
  if (reverse) x = op.b.Reverse(x, {axis});
  return op.Out(x);
}

absl::Status Cumsum(Op& op) { return Scan(op, 0, Plus); }
absl::Status Cumprod(Op& op) { return Scan(op, 1, Times); }
absl::Status CumulativeLogsumexp(Op& op) {
  return Scan(op, -std::numeric_limits<double>::infinity(), LogPlus);
}

constexpr Types kIndexed = kReals | kBools;

constexpr Row kRows[] = {
    {"Sum", Reduce<"add", Start::kZero>, kNumbers, In(1)},
    {"Prod", Reduce<"multiply", Start::kOne>, kNumbers, In(1)},
    {"Max", Reduce<"maximum", Start::kLowest>, kReals, In(1)},
    {"Min", Reduce<"minimum", Start::kHighest>, kReals, In(1)},
    {"All", Reduce<"and", Start::kOne>, kBools, In(1)},
    {"Any", Reduce<"or", Start::kZero>, kBools, In(1)},
    {"Mean", Mean, kNumbers, In(1)},
    {"EuclideanNorm", EuclideanNorm, kFloatsAndComplexes, In(1)},
    {"ArgMax", ArgExtreme<true>, kIndexed, In(1)},
    {"ArgMin", ArgExtreme<false>, kIndexed, In(1)},
    {"Cumsum", Cumsum, kNumbers, In(1)},
    {"Cumprod", Cumprod, kNumbers, In(1)},
    {"CumulativeLogsumexp", CumulativeLogsumexp, kFloats, In(1)},
};

}  // namespace
}  // namespace reduction_ops

Rows ReductionRows() { return reduction_ops::kRows; }

}  // namespace tenon::stablehlo
