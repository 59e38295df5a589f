// Rounding that a graph writes out, as importers of ONNX write QuantizeLinear and DequantizeLinear:
// a factor, Round, a zero point, limits, a cast to an integer type and back, and the inverse.
#include <cmath>
#include <limits>
#include <vector>

#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/quantization/value_grids.h"

namespace tenon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
bool IsNearWhole(double x) { return std::abs(x - std::nearbyint(x)) < 1e-3; }

// value = factor * v + shift
struct Affine {
  double factor = 1, shift = 0;
  double operator()(double v) const { return factor * v + shift; }
};

class RoundingWalk {
 public:
  explicit RoundingWalk(const Sweep& sweep) : s_(sweep) {}

  std::optional<GridValue> From(Output o) {
    constexpr int kMostNodes = 16;
    Output at = o;
    for (int i = 0; i < kMostNodes && Step(at); ++i) {
      if (const std::optional<ValueGrid> grid = Grid(); grid) return GridValue{at, *grid};
    }
    return std::nullopt;
  }

 private:
  // A cast to an integer type, whose values are `value`'s v.
  struct IntegerCast {
    Affine value;
    double lowest, highest;  // of the type
  };

  // Goes from a value to the one that it is made of; false if it is made in another way.
  bool Step(Output& at) {
    const Graph& g = s_.graph();
    const NodeId n = at.node;
    if (s_.fed(n) || !g.control_inputs(n).empty()) return false;
    const std::span<const Output> in = g.data_inputs(n);
    const std::string_view op = g.op_name(n);
    if (op == "Cast") {
      if (!TakeCast(g.output_type(at), g.output_type(in[0]))) return false;
      at = in[0];
      return true;
    }
    if (op == "Round" || op == "Rint") {
      if (rounded_) return false;
      rounded_ = to_value_;
      at = in[0];
      return true;
    }
    if (op == "ClipByValue") {
      const std::optional<double> low = Number(in[1]), high = Number(in[2]);
      if (!low || !high) return false;
      Limit(*low, *high);
      at = in[0];
      return true;
    }
    if (in.size() != 2) return false;
    // Constants stand second where the order does not count, but for files of other tools.
    const bool first = !Number(in[1]) && op != "Sub" && op != "RealDiv";
    const std::optional<double> c = Number(in[first ? 0 : 1]);
    if (!c || !std::isfinite(*c)) return false;
    if (!TakeArithmetic(op, *c)) return false;
    at = in[first ? 1 : 0];
    return true;
  }

  bool TakeArithmetic(std::string_view op, double c) {
    if (op == "Mul") {
      to_value_.factor *= c;
    } else if (op == "RealDiv") {
      to_value_.factor /= c;
    } else if (op == "AddV2" || op == "Add") {
      to_value_.shift += to_value_.factor * c;
    } else if (op == "Sub") {
      to_value_.shift -= to_value_.factor * c;
    } else if (op == "Minimum") {
      Limit(-kInfinity, c);
    } else if (op == "Maximum") {
      Limit(c, kInfinity);
    } else {
      return false;
    }
    return to_value_.factor > 0 && std::isfinite(to_value_.factor);
  }

  void Limit(double low, double high) {
    for (Limits* const limits : {&limits_, &before_casts_}) {
      limits->low = std::max(limits->low, to_value_(low));
      limits->high = std::min(limits->high, to_value_(high));
    }
  }

  bool TakeCast(DataType to, DataType from) {
    const auto is_float = [](DataType t) { return t == DataType::kFloat; };
    double lowest = -0x1p31, highest = 0x1p31;
    if (to == DataType::kUint8) {
      lowest = 0, highest = 255;
    } else if (to == DataType::kInt8) {
      lowest = -128, highest = 127;
    } else if (to != DataType::kInt32) {
      const bool widens = from == DataType::kUint8 || from == DataType::kInt8 ||
                          from == DataType::kInt32 || is_float(from);
      return is_float(to) && widens;
    }
    casts_.push_back({to_value_, lowest, highest});
    // Only limits that come before a narrow type keep values from wrapping.
    if (to != DataType::kInt32) before_casts_ = {};
    return true;
  }

  // The grid, if what is left of the value is its argument.
  std::optional<ValueGrid> Grid() const {
    if (!rounded_ || limits_.low == -kInfinity || limits_.high == kInfinity) return std::nullopt;
    const double step = rounded_->factor;
    if (std::abs(to_value_.factor - 1) > 1e-5 || std::abs(to_value_.shift) > 1e-3 * step ||
        !IsNearWhole(rounded_->shift / step))
      return std::nullopt;
    for (const IntegerCast& cast : casts_) {
      // What is cast must be whole numbers of the type.
      const bool whole = std::abs(step / cast.value.factor - 1) < 1e-5 &&
                         IsNearWhole((rounded_->shift - cast.value.shift) / step);
      const bool narrow = cast.highest < 0x1p31;
      const double slack = 0.5 * step;
      if (!whole || (narrow && (before_casts_.low < cast.value(cast.lowest) - slack ||
                                before_casts_.high > cast.value(cast.highest) + slack)))
        return std::nullopt;
    }
    return MakeGrid(static_cast<float>(step), std::nearbyint(limits_.low / step),
                    std::nearbyint(limits_.high / step));
  }

  std::optional<double> Number(Output o) const {
    const std::optional<Tensor> value = s_.ConstOf(o, 1);
    if (!value || value->num_elements() != 1) return std::nullopt;
    return NumberAt(*value, 0);
  }

  struct Limits {
    double low = -kInfinity, high = kInfinity;  // of the value
  };
  const Sweep& s_;
  Affine to_value_;                // from where the walk is to the value
  std::optional<Affine> rounded_;  // from the rounded numbers to the value
  Limits limits_, before_casts_;
  std::vector<IntegerCast> casts_;
};

}  // namespace

std::optional<GridValue> FindComputedGrid(const Sweep& s, Output o) {
  return RoundingWalk(s).From(o);
}

}  // namespace tenon
