// Floats rounded to the values that a quantized type would have, and the gradients.
#include "executor/stablehlo/rows.h"
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
  const Value step = op.b.Div(op.b.Sub(high, low), highest - lowest);
  const Value zero = op.b.Sub(op.b.Like(low, lowest), op.b.Div(low, step));
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
                          : op.b.Div(shifted, r.step);
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

constexpr Types kFloat = {DataType::kFloat};

constexpr Row kRows[] = {
    {"FakeQuantWithMinMaxArgs", FakeQuant<false>, kFloat},
    {"FakeQuantWithMinMaxVars", FakeQuant<false>, kFloat},
    {"FakeQuantWithMinMaxVarsPerChannel", FakeQuant<true>, kFloat},
    {"FakeQuantWithMinMaxArgsGradient", FakeQuantGradient<false>, kFloat},
    {"FakeQuantWithMinMaxVarsGradient", FakeQuantGradient<false>, kFloat},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", FakeQuantGradient<true>, kFloat},
};

}  // namespace
}  // namespace quantize_ops

Rows QuantizeRows() { return quantize_ops::kRows; }

}  // namespace tenon::stablehlo
