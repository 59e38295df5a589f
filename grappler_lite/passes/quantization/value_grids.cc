#include "grappler_lite/passes/quantization/value_grids.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
namespace {

constexpr int kMostSteps = 255;

std::optional<float> ConstFloat(const Sweep& s, Output o) {
  const std::optional<Tensor> value = s.ConstOf(o, 1);
  if (!value || value->dtype() != DataType::kFloat || value->num_elements() != 1)
    return std::nullopt;
  return ElementAt<float>(*value, 0);
}

// A range whose ends move so that 0 is one of its numbers: as FakeQuant's kernels compute it.
std::optional<ValueGrid> Nudged(float min, float max, int64_t bits, bool narrow) {
  if (bits < 2 || bits > 8 || !(min < max)) return std::nullopt;
  const float lowest = narrow ? 1 : 0, highest = static_cast<float>((1 << bits) - 1);
  const float step = (max - min) / (highest - lowest);
  const float zero = std::round(std::clamp(lowest - min / step, lowest, highest));
  return MakeGrid(step, lowest - zero, highest - zero);
}

std::optional<ValueGrid> FakeQuantGrid(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  std::optional<float> min, max;
  if (in.size() == 3) {
    min = ConstFloat(s, in[1]);
    max = ConstFloat(s, in[2]);
  } else {
    min = FloatAttr(g, n, "min");
    max = FloatAttr(g, n, "max");
  }
  if (!min || !max) return std::nullopt;
  return Nudged(*min, *max, IntAttr(g, n, "num_bits"), BoolAttr(g, n, "narrow_range"));
}

// 0 stands for 0, and the wider side gives the step.
std::optional<ValueGrid> ScaledGrid(float min, float max, int64_t bits, bool is_signed,
                                    bool narrow) {
  if (bits < 2 || bits > 8) return std::nullopt;
  const int half = 1 << (bits - 1);
  const auto lowest = static_cast<float>(is_signed ? -half + (narrow ? 1 : 0) : 0);
  const auto highest = static_cast<float>(is_signed ? half - 1 : 2 * half - 1);
  const float by_min = lowest < 0 ? min / lowest : 0;
  return MakeGrid(std::max(by_min, max / highest), lowest, highest);
}

std::optional<ValueGrid> RoundTripGrid(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  if (!BoolAttr(g, n, "range_given") || IntAttr(g, n, "axis") != -1 || in.size() < 3)
    return std::nullopt;
  const std::optional<float> min = ConstFloat(s, in[1]), max = ConstFloat(s, in[2]);
  int64_t bits = IntAttr(g, n, "num_bits");
  if (in.size() > 3) {
    const std::optional<Tensor> value = s.ConstOf(in[3], 1);
    bits = value && value->num_elements() == 1 ? value->IntAt(0) : 0;
  }
  if (!min || !max) return std::nullopt;
  return ScaledGrid(*min, *max, bits, BoolAttr(g, n, "signed_input"),
                    BoolAttr(g, n, "narrow_range"));
}

struct Range {
  float min, max;
};

bool IsByte(DataType type) { return type == DataType::kQint8 || type == DataType::kQuint8; }
bool IsPlain(const Sweep& s, NodeId n) { return !s.fed(n) && s.graph().control_inputs(n).empty(); }

// The range that QuantizeV2 gives beside its bytes, as its kernel computes it.
std::optional<Range> RangeOfBytes(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::optional<float> min = ConstFloat(s, g.data_inputs(n)[1]),
                             max = ConstFloat(s, g.data_inputs(n)[2]);
  if (!min || !max || IntAttr(g, n, "axis") != -1) return std::nullopt;
  const float greatest = std::max({1.0f, std::abs(*min), std::abs(*max)});
  Range r{std::min(0.0f, *min), 0};
  r.max = std::max({0.0f, *max, r.min + greatest * FloatAttr(g, n, "ensure_minimum_range")});
  if (TextAttr(g, n, "mode") != "SCALED") return r;
  const bool is_signed = g.output_type({n, 0}) == DataType::kQint8;
  const std::optional<ValueGrid> grid =
      ScaledGrid(r.min, r.max, 8, is_signed, BoolAttr(g, n, "narrow_range"));
  if (!grid) return std::nullopt;
  return Range{static_cast<float>(grid->least) * grid->step,
               static_cast<float>(grid->most) * grid->step};
}

// Whether n's bytes come from floats by a QuantizeV2 that has the ranges and the mode of n.
bool UndoesQuantize(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  const NodeId q = in[0].node;
  return g.op_name(q) == "QuantizeV2" && in[0].port == 0 && IsPlain(s, q) &&
         g.device(q) == g.device(n) && in[1] == Output{q, 1} && in[2] == Output{q, 2} &&
         TextAttr(g, q, "mode") == TextAttr(g, n, "mode") &&
         BoolAttr(g, q, "narrow_range") == BoolAttr(g, n, "narrow_range");
}

std::optional<ValueGrid> DequantizeGrid(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::span<const Output> in = g.data_inputs(n);
  const DataType type = g.output_type(in[0]);
  if (!IsByte(type) || IntAttr(g, n, "axis") != -1) return std::nullopt;
  std::optional<Range> range;
  if (UndoesQuantize(s, n)) {
    range = RangeOfBytes(s, in[0].node);
  } else if (const auto min = ConstFloat(s, in[1]), max = ConstFloat(s, in[2]); min && max) {
    range = Range{*min, *max};
  }
  if (!range || !(range->min < range->max)) return std::nullopt;
  const std::string_view mode = TextAttr(g, n, "mode");
  if (mode == "SCALED") {
    return ScaledGrid(range->min, range->max, 8, type == DataType::kQint8,
                      BoolAttr(g, n, "narrow_range"));
  }
  const float step = (range->max - range->min) / kMostSteps, least = range->min / step;
  // MIN_FIRST rounds the minimum to a step. Otherwise 0 may lie between two numbers.
  constexpr float kNear = 1e-3f;
  if (mode != "MIN_FIRST" && std::abs(least - std::round(least)) > kNear) return std::nullopt;
  return MakeGrid(step, std::round(least), std::round(least) + kMostSteps);
}

bool KeepsGrid(const Graph& g, NodeId n) {
  return OpIs(g, n, {"Reshape", "Squeeze", "ExpandDims", "Transpose", "MaxPool", "Relu"});
}

}  // namespace

std::optional<ValueGrid> MakeGrid(float step, double least, double most) {
  const bool fits = std::isfinite(step) && step >= std::numeric_limits<float>::min() &&
                    least <= 0 && most >= 0 && most - least >= 1 && most - least <= kMostSteps;
  if (!fits) return std::nullopt;
  return ValueGrid{step, static_cast<int>(least), static_cast<int>(most)};
}

std::optional<GridValue> FindGrid(const Sweep& s, Output o) {
  const Graph& g = s.graph();
  // What moves values, or keeps some of them, leaves them on their grid.
  constexpr int kMostMoves = 16;
  Output at = o;
  for (int i = 0; i < kMostMoves && !s.fed(at.node) && KeepsGrid(g, at.node); ++i)
    at = g.data_inputs(at.node)[0];
  const NodeId n = at.node;
  if (s.fed(n) || g.num_outputs(n) == 0 || g.output_type(at) != DataType::kFloat)
    return std::nullopt;
  const std::string_view op = g.op_name(n);
  std::optional<ValueGrid> grid;
  if (op == "FakeQuantWithMinMaxVars" || op == "FakeQuantWithMinMaxArgs") {
    grid = FakeQuantGrid(s, n);
  } else if (op.starts_with("QuantizeAndDequantizeV") && !op.ends_with("Grad")) {
    grid = RoundTripGrid(s, n);
  } else if (op == "Dequantize") {
    grid = DequantizeGrid(s, n);
  }
  if (!grid) {
    const std::optional<GridValue> computed = FindComputedGrid(s, at);
    if (!computed || at == o) return computed;
    return GridValue{o, computed->grid};
  }
  Output from = o;
  if (at == o && IsPlain(s, n)) {
    if (op != "Dequantize") {
      from = g.data_inputs(n)[0];
    } else if (UndoesQuantize(s, n)) {
      from = g.data_inputs(g.data_inputs(n)[0].node)[0];
    }
  }
  // A reference is read at another time.
  if (g.output_type(from) != DataType::kFloat) from = o;
  return GridValue{from, *grid};
}

}  // namespace tenon
