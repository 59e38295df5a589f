// Between element types, and complex numbers from their parts.
#include <cmath>
#include <cstring>
#include <limits>

#include "checks.h"
#include "elementwise.h"
#include "families.h"

namespace pjref {
namespace {

void CheckConvert(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckKind(op, op.operand_types[0], kAll);
  CheckKind(op, op.result_types[0], kAll);
  CheckResult(op, 0, {op.result_types[0].element, op.operand_types[0].dims});
}

// Truncates; what is out of range becomes the nearest number that the type has, NaN 0.
template <typename T>
int64_t ToSigned(T value, int width) {
  const double limit = std::ldexp(1.0, width - 1);
  if (value != value) return 0;
  if (value >= limit) return std::numeric_limits<int64_t>::max() >> (64 - width);
  if (value < -limit) return std::numeric_limits<int64_t>::min() >> (64 - width);
  return static_cast<int64_t>(value);
}

template <typename T>
uint64_t ToUnsigned(T value, int width) {
  if (!(value > 0)) return 0;
  if (value >= std::ldexp(1.0, width)) return std::numeric_limits<uint64_t>::max() >> (64 - width);
  return static_cast<uint64_t>(value);
}

template <typename T>
auto RealOf(T value) {
  if constexpr (kIsComplex<T>) {
    return value.real();
  } else {
    return value;
  }
}

template <typename T>
void ConvertFrom(const Array& in, const Array& out) {
  const Element to = out.element();
  const int width = BitWidth(to);
  using Real = decltype(RealOf(T()));
  if (to == Element::kI1) {
    MapOne<T, uint64_t>(in, out, [](T x) { return static_cast<uint64_t>(x != T(0)); });
  } else if (IsInteger(to)) {
    if constexpr (std::is_integral_v<T>) {
      MapOne<T, T>(in, out, [](T x) { return x; });
    } else if (IsSigned(to)) {
      MapOne<T, int64_t>(in, out, [width](T x) { return ToSigned(RealOf(x), width); });
    } else {
      MapOne<T, uint64_t>(in, out, [width](T x) { return ToUnsigned(RealOf(x), width); });
    }
  } else if (to == Element::kF32) {
    MapOne<T, float>(in, out, [](T x) { return static_cast<float>(RealOf(x)); });
  } else if (IsFloat(to)) {
    // To 16 bits from double in one step, so that what a float cannot hold is rounded once.
    using U = std::conditional_t<std::is_same_v<Real, float>, float, double>;
    if (to == Element::kF64 || std::is_same_v<U, double>) {
      MapOne<T, double>(in, out, [](T x) { return static_cast<double>(RealOf(x)); });
    } else {
      MapOne<T, U>(in, out, [](T x) { return static_cast<U>(RealOf(x)); });
    }
  } else if constexpr (kIsComplex<T>) {
    MapOne<T, std::complex<double>>(in, out, [](T x) { return std::complex<double>(x); });
  } else {
    MapOne<T, std::complex<double>>(
        in, out, [](T x) { return std::complex<double>(static_cast<double>(x), 0); });
  }
}

Array Convert(const Op& op, const std::vector<Array>& operands, const Dims& dims) {
  const Array& in = operands[0];
  Array out({op.result_types[0].element, dims});
  VisitComputed(in.element(), [&](auto zero) { ConvertFrom<decltype(zero)>(in, out); });
  return out;
}

void CheckBitcast(const Op& op) {
  CheckCounts(op, 1, 1);
  const Type& from = op.operand_types[0];
  const Type& to = op.result_types[0];
  CheckKind(op, from, kAll);
  CheckKind(op, to, kAll);
  CheckThat(op, IsComplex(from.element) == IsComplex(to.element),
            "does not convert between real and complex types");
  CheckThat(op,
            BitWidth(from.element) == BitWidth(to.element) ||
                (from.element != Element::kI1 && to.element != Element::kI1),
            "does not convert between i1 and types of other widths");
  const size_t a = ByteSize(from.element), b = ByteSize(to.element);
  Dims dims = from.dims;
  if (a > b) dims.push_back(static_cast<int64_t>(a / b));
  if (a < b) {
    CheckThat(op, !dims.empty() && dims.back() == static_cast<int64_t>(b / a),
              "requires compatible bit widths and a last dimension that makes up for them");
    dims.pop_back();
  }
  CheckResult(op, 0, {to.element, dims});
}

void Bitcast(Frame* frame, const Op& op) {
  Array out(op.result_types[0]);
  std::memcpy(out.data(), frame->In(op, 0).data(), out.bytes());
  frame->Out(op, std::move(out));
}

void CheckComplex(const Op& op) {
  CheckCounts(op, 2, 1);
  const Type& part = op.operand_types[0];
  CheckThat(op, part.element == Element::kF32 || part.element == Element::kF64, "takes f32 or f64");
  CheckThat(op, part == op.operand_types[1], "requires the same type for both operands");
  CheckResult(op, 0, {part.element == Element::kF32 ? Element::kC64 : Element::kC128, part.dims});
}

Array MakeComplex(const Op& op, const std::vector<Array>& operands, const Dims& dims) {
  Array out({op.result_types[0].element, dims});
  MapTwo<double, std::complex<double>>(
      operands[0], operands[1], out, [](double a, double b) { return std::complex<double>(a, b); });
  return out;
}

void CheckReducePrecision(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckKind(op, op.operand_types[0], kFloats);
  CheckResult(op, 0, op.operand_types[0]);
  CheckThat(op, op.Integer("exponent_bits", 0) >= 1, "exponent_bits must be at least 1");
  CheckThat(op, op.Integer("mantissa_bits", -1) >= 0, "mantissa_bits must be at least 0");
}

double WithPrecision(double value, int64_t exponent_bits, int64_t mantissa_bits) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  const double scale = std::ldexp(1.0, static_cast<int>(std::min<int64_t>(mantissa_bits, 52)) + 1);
  const double rounded = std::ldexp(std::nearbyint(fraction * scale) / scale, exponent);
  if (exponent_bits >= 11) return rounded;
  const int most = (1 << (exponent_bits - 1)) - 1;
  const double size = std::abs(rounded);
  if (size >= std::ldexp(1.0, most + 1))
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  // Subnormal numbers become 0.
  return size < std::ldexp(1.0, 1 - most) ? std::copysign(0.0, value) : rounded;
}

Array ReducePrecision(const Op& op, const std::vector<Array>& operands, const Dims& dims) {
  const Array& in = operands[0];
  Array out({in.element(), dims});
  const int64_t exponent = op.Integer("exponent_bits", 11),
                mantissa = op.Integer("mantissa_bits", 52);
  MapOne<double, double>(in, out, [=](double x) { return WithPrecision(x, exponent, mantissa); });
  return out;
}

}  // namespace

const std::vector<OpRow>& ConversionRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.convert", &CheckConvert, &EvaluateLifted<&Convert>, &Convert},
      {"stablehlo.bitcast_convert", &CheckBitcast, &Bitcast, nullptr},
      {"stablehlo.complex", &CheckComplex, &EvaluateLifted<&MakeComplex>, &MakeComplex},
      {"stablehlo.reduce_precision", &CheckReducePrecision, &EvaluateLifted<&ReducePrecision>,
       &ReducePrecision},
  };
  return kRows;
}

}  // namespace pjref
