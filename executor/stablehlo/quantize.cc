// Floats rounded to the values that a quantized type would have, and the gradients.
#include <limits>

#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace quantize_ops {
namespace {

// Ranges moved so that 0 is one of their values, each in the shape of the inputs.
struct Ranges {
  Value low, high, step, empty;
};

// The ranges are attributes, inputs from `first` on, or such inputs with one number for each
// channel.
absl::StatusOr<Ranges> RangesOf(Op& op, int first, const Shape& shape, bool channels) {
  TENON_ASSIGN_OR_RETURN(const int64_t bits, op.Int("num_bits"));
  TENON_ASSIGN_OR_RETURN(const bool narrow, op.Bool("narrow_range"));
  if (bits < 2 || bits > 16) return op.Invalid("num_bits must be in [2, 16]");
  const double lowest = narrow ? 1 : 0, highest = static_cast<double>((1 << bits) - 1);
  Value low, high;
  if (op.shapes().HasAttr("min")) {
    TENON_ASSIGN_OR_RETURN(const float min, op.Float("min"));
    TENON_ASSIGN_OR_RETURN(const float max, op.Float("max"));
    if (!(min < max)) return op.Invalid("min must be below max");
    low = op.b.Scalar(DataType::kFloat, min);
    high = op.b.Scalar(DataType::kFloat, max);
  } else {
    low = op.In(first);
    high = op.In(first + 1);
    const Shape want =
        channels && shape.rank() > 0 ? Shape({shape.dim(shape.rank() - 1)}) : Shape();
    if (low.shape != want || high.shape != want) return op.Invalid("the ranges do not fit");
  }
  const Value range = op.b.Sub(high, low);
  const Value step = RoundedOnce(op, range, op.b.Like(range, highest - lowest));
  const Value zero = op.b.Sub(op.b.Like(low, lowest), RoundedOnce(op, low, step));
  Value nudged = op.b.Unary("round_nearest_afz", zero);
  nudged = op.b.Select(op.b.Compare("GE", zero, lowest), nudged, op.b.Like(zero, lowest));
  nudged = op.b.Select(op.b.Compare("GT", zero, highest), op.b.Like(zero, highest), nudged);
  const auto wide = [&](const Value& v) { return op.b.BroadcastTo(v, shape); };
  const auto end = [&](double quantized) {
    return wide(op.b.Mul(op.b.Sub(op.b.Like(nudged, quantized), nudged), step));
  };
  const Value empty = op.b.And(op.b.Compare("EQ", low, 0.0), op.b.Compare("EQ", high, 0.0));
  return Ranges{end(lowest), end(highest), wide(step), wide(empty)};
}

template <bool kChannels>
absl::Status FakeQuant(Op& op) {
  const Value& x = op.In(0);
  TENON_ASSIGN_OR_RETURN(const Ranges r, RangesOf(op, 1, x.shape, kChannels));
  const Value shifted = op.b.Sub(op.b.Max(op.b.Min(x, r.high), r.low), r.low);
  // TensorFlow multiplies by the inverse where the range is an attribute, and rounds differently.
  const Value steps = op.shapes().HasAttr("min")
                          ? op.b.Mul(shifted, op.b.Div(op.b.Like(r.step, 1), r.step))
                          : RoundedOnce(op, shifted, r.step);
  const Value whole = op.b.Unary("floor", op.b.Add(steps, 0.5));
  const Value y = op.b.Add(op.b.Mul(whole, r.step), r.low);
  return op.Out(op.b.Select(r.empty, op.b.Like(y, 0), y));
}

// gradients, inputs(, ranges) -> the gradient of the inputs(, of the ranges' ends)
template <bool kChannels>
absl::Status FakeQuantGradient(Op& op) {
  const Value &dy = op.In(0), &x = op.In(1);
  TENON_ASSIGN_OR_RETURN(const Ranges r, RangesOf(op, 2, x.shape, kChannels));
  const auto kept = [&](const Value& where) {
    return op.b.Mul(dy, op.b.Convert(where, DataType::kFloat));
  };
  const Value below = op.b.Compare("LT", x, r.low), above = op.b.Compare("GT", x, r.high);
  const Value inside = op.b.And(op.b.Compare("GE", x, r.low), op.b.Compare("LE", x, r.high));
  op.Out(0, kept(op.b.Or(r.empty, inside)));
  if (op.num_outputs() == 1) return absl::OkStatus();
  Ints dims;
  for (int i = 0; i < x.rank() - (kChannels ? 1 : 0); ++i) dims.push_back(i);
  const auto sum = [&](const Value& where) {
    const Value all = op.b.Select(r.empty, op.b.Like(dy, 0), kept(where));
    return op.b.Reduce("add", all, op.b.Scalar(DataType::kFloat, 0), dims);
  };
  op.Out(1, sum(below));
  op.Out(2, sum(above));
  return absl::OkStatus();
}

// --- QuantizeAndDequantize: the integers are symmetric about 0, or begin there.

// What the ranges, of all elements or of each slice along `axis`, make of them: each in the shape
// of the ranges.
struct Steps {
  Value low, high, scale, step;
};

struct RoundTrip {
  int64_t axis = -1, num_bits = 0;
  bool is_signed = false, narrow = false, half_up = false, given = false;
};

absl::StatusOr<RoundTrip> RoundTripOf(Op& op) {
  RoundTrip r;
  TENON_ASSIGN_OR_RETURN(r.is_signed, op.Bool("signed_input"));
  TENON_ASSIGN_OR_RETURN(r.given, op.Bool("range_given"));
  if (op.num_inputs() > 1) {
    TENON_ASSIGN_OR_RETURN(r.axis, op.Int("axis"));
    TENON_ASSIGN_OR_RETURN(r.narrow, op.Bool("narrow_range"));
  }
  if (op.shapes().HasAttr("num_bits")) {
    TENON_ASSIGN_OR_RETURN(r.num_bits, op.Int("num_bits"));
  } else {
    TENON_ASSIGN_OR_RETURN(r.num_bits, op.IntOf(3));
  }
  if (r.num_bits < 1 || r.num_bits > (r.is_signed ? 61 : 62))
    return op.Invalid("num_bits must be in [1, 61], or 62 without a sign");
  if (op.shapes().HasAttr("round_mode")) {
    TENON_ASSIGN_OR_RETURN(const std::string_view mode, op.String("round_mode"));
    r.half_up = mode == "HALF_UP";
  }
  if (r.axis < -1 || r.axis >= op.InRank(0)) return op.Invalid("there is no such axis");
  return r;
}

// The dimensions that a range is taken over.
Ints OtherDims(int64_t axis, int rank) {
  Ints dims;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) dims.push_back(i);
  }
  return dims;
}

// The end of the range that needs the larger step keeps its place, the other one follows.
Steps StepsOf(Op& op, const RoundTrip& r, const Value& low, const Value& high) {
  Builder& b = op.b;
  const int64_t half = int64_t{1} << (r.num_bits - 1);
  const auto least = static_cast<double>(r.is_signed ? -half + (r.narrow ? 1 : 0) : 0);
  const auto most = static_cast<double>((r.is_signed ? half : 2 * half) - 1);
  const Value none = low.dtype == DataType::kFloat
                         ? b.Like(low, std::numeric_limits<float>::max())
                         : b.Like(low, std::numeric_limits<double>::max());
  const auto scale = [&](const Value& end, double quantized) {
    return b.Select(b.Compare("GT", b.Mul(end, quantized), 0.0), b.Div(b.Like(end, quantized), end),
                    none);
  };
  const Value by_low = scale(low, least), by_high = scale(high, most);
  const Value by_first = b.Compare("LT", by_low, by_high);
  const Value step_low = RoundedOnce(op, low, b.Like(low, least));
  const Value step_high = RoundedOnce(op, high, b.Like(high, most));
  return {b.Select(by_first, low, b.Mul(step_high, least)),
          b.Select(by_first, b.Mul(step_low, most), high), b.Select(by_first, by_low, by_high),
          b.Select(by_first, step_low, step_high)};
}

absl::Status RoundTripThroughIntegers(Op& op) {
  TENON_ASSIGN_OR_RETURN(const RoundTrip r, RoundTripOf(op));
  Builder& b = op.b;
  const Value& x = op.In(0);
  if (x.shape.num_elements() == 0) return op.Out(x);
  const Shape ranges = r.axis < 0 ? Shape() : Shape({x.shape.dim(static_cast<int>(r.axis))});
  Value low, high;
  if (!r.given) {
    const Ints dims = OtherDims(r.axis, x.rank());
    // A NaN is passed over.
    const Value is_nan = b.Compare("NE", x, x);
    low = b.Reduce("minimum", b.Select(is_nan, b.Highest(x.dtype, x.shape), x),
                   b.Highest(x.dtype, Shape()), dims);
    high = b.Reduce("maximum", b.Select(is_nan, b.Lowest(x.dtype, x.shape), x),
                    b.Lowest(x.dtype, Shape()), dims);
  } else if (op.num_inputs() == 1) {
    TENON_ASSIGN_OR_RETURN(const float min, op.Float("input_min"));
    TENON_ASSIGN_OR_RETURN(const float max, op.Float("input_max"));
    low = b.Scalar(x.dtype, min);
    high = b.Scalar(x.dtype, max);
  } else {
    low = op.In(1);
    high = op.In(2);
  }
  if (low.shape != ranges || high.shape != ranges) return op.Invalid("the ranges do not fit");
  if (r.given && r.axis < 0)
    op.Check(b.Compare("LE", low, high), "input_min must not be above input_max");
  const Steps s = StepsOf(op, r, low, high);
  const auto wide = [&](const Value& v) {
    return b.Broadcast(v, x.shape, r.axis < 0 ? Ints() : Ints{r.axis});
  };
  // A measured range holds all elements.
  const Value inside = r.given ? b.Max(b.Min(x, wide(s.high)), wide(s.low)) : x;
  const Value scaled = b.Mul(inside, wide(s.scale));
  const Value whole =
      r.half_up ? b.Unary("floor", b.Add(scaled, 0.5)) : b.Unary("round_nearest_even", scaled);
  return op.Out(b.Mul(whole, wide(s.step)));
}

// gradients, input, the ranges' ends -> the gradient of the input; none of the ends
absl::Status RoundTripGradient(Op& op) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, op.Int("axis"));
  const Value &dy = op.In(0), &x = op.In(1), &low = op.In(2), &high = op.In(3);
  const bool fits = axis >= -1 && axis < x.rank() && dy.shape == x.shape;
  const Shape ranges = fits && axis >= 0 ? Shape({x.shape.dim(static_cast<int>(axis))}) : Shape();
  if (!fits || low.shape != ranges || high.shape != ranges)
    return op.Invalid("the inputs do not fit each other");
  const auto wide = [&](const Value& v) {
    return op.b.Broadcast(v, x.shape, axis < 0 ? Ints() : Ints{axis});
  };
  const Value inside =
      op.b.And(op.b.Compare("GE", x, wide(low)), op.b.Compare("LE", x, wide(high)));
  op.Out(0, op.b.Mul(dy, op.b.Convert(inside, dy.dtype)));
  op.Out(1, op.b.Like(low, 0));
  op.Out(2, op.b.Like(high, 0));
  return absl::OkStatus();
}

constexpr Types kFloat = {DataType::kFloat};
constexpr Types kRoundTrip = {DataType::kFloat, DataType::kDouble};

constexpr Row kRows[] = {
    {"FakeQuantWithMinMaxArgs", FakeQuant<false>, kFloat},
    {"FakeQuantWithMinMaxVars", FakeQuant<false>, kFloat},
    {"FakeQuantWithMinMaxVarsPerChannel", FakeQuant<true>, kFloat},
    {"FakeQuantWithMinMaxArgsGradient", FakeQuantGradient<false>, kFloat},
    {"FakeQuantWithMinMaxVarsGradient", FakeQuantGradient<false>, kFloat},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", FakeQuantGradient<true>, kFloat},
    {"QuantizeAndDequantize", RoundTripThroughIntegers, kRoundTrip},
    {"QuantizeAndDequantizeV2", RoundTripThroughIntegers, kRoundTrip},
    {"QuantizeAndDequantizeV3", RoundTripThroughIntegers, kRoundTrip, In(3)},
    {"QuantizeAndDequantizeV4", RoundTripThroughIntegers, kRoundTrip},
    {"QuantizeAndDequantizeV4Grad", RoundTripGradient, kRoundTrip},
};

}  // namespace
}  // namespace quantize_ops

Rows QuantizeRows() { return quantize_ops::kRows; }

}  // namespace tenon::stablehlo
