// Functions of one element.
#include <cmath>

#include "checks.h"
#include "elementwise.h"
#include "families.h"

namespace pjref {
namespace {

template <unsigned kinds>
void CheckUnary(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckKind(op, op.operand_types[0], kinds);
  CheckResult(op, 0, op.operand_types[0]);
}

// The result has the operand's type; F::At(x) computes one element of any computed type in `kinds`.
template <typename F, unsigned kinds>
Array Unary(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  const Array& in = operands[0];
  Array out({in.element(), dims});
  VisitComputed(in.element(), [&](auto zero) {
    using T = decltype(zero);
    constexpr bool kTaken = (kIsComplex<T> && (kinds & kComplexes)) ||
                            (std::is_floating_point_v<T> && (kinds & kFloats)) ||
                            (std::is_integral_v<T> && (kinds & (kIntegers | kBool)));
    if constexpr (kTaken) MapOne<T, T>(in, out, [](T x) { return F::At(x); });
  });
  return out;
}

template <typename F, unsigned kinds>
OpRow UnaryRow(std::string_view name) {
  return {name, &CheckUnary<kinds>, &EvaluateLifted<&Unary<F, kinds>>, &Unary<F, kinds>};
}

struct Negate {
  template <typename T>
  static T At(T x) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(-static_cast<uint64_t>(x));
    return -x;
  }
};
struct Exponential {
  template <typename T>
  static T At(T x) {
    return std::exp(x);
  }
};
struct ExponentialMinusOne {
  template <typename T>
  static T At(T x) {
    return std::expm1(x);
  }
  // exp(a + bi) - 1 = expm1(a) cos b - 2 sin^2(b / 2) + i exp(a) sin b, which loses nothing near 0.
  template <typename T>
  static std::complex<T> At(std::complex<T> x) {
    const T half = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half,
            std::exp(x.real()) * std::sin(x.imag())};
  }
};
struct Log {
  template <typename T>
  static T At(T x) {
    return std::log(x);
  }
};
struct LogPlusOne {
  template <typename T>
  static T At(T x) {
    return std::log1p(x);
  }
  template <typename T>
  static std::complex<T> At(std::complex<T> x) {
    const T a = x.real(), b = x.imag();
    return {std::log1p(2 * a + a * a + b * b) / 2, std::atan2(b, 1 + a)};
  }
};
struct Sqrt {
  template <typename T>
  static T At(T x) {
    return std::sqrt(x);
  }
};
struct Rsqrt {
  template <typename T>
  static T At(T x) {
    return T(1) / std::sqrt(x);
  }
};
struct Cbrt {
  template <typename T>
  static T At(T x) {
    return std::cbrt(x);
  }
};
struct Tanh {
  template <typename T>
  static T At(T x) {
    return std::tanh(x);
  }
};
struct Tangent {
  template <typename T>
  static T At(T x) {
    return std::tan(x);
  }
};
struct Sine {
  template <typename T>
  static T At(T x) {
    return std::sin(x);
  }
};
struct Cosine {
  template <typename T>
  static T At(T x) {
    return std::cos(x);
  }
};
struct Logistic {
  template <typename T>
  static T At(T x) {
    return T(1) / (T(1) + std::exp(-x));
  }
};
struct Floor {
  template <typename T>
  static T At(T x) {
    return std::floor(x);
  }
};
struct Ceil {
  template <typename T>
  static T At(T x) {
    return std::ceil(x);
  }
};
struct RoundAwayFromZero {
  template <typename T>
  static T At(T x) {
    return std::round(x);
  }
};
struct RoundToEven {
  template <typename T>
  static T At(T x) {
    return std::nearbyint(x);
  }
};
struct Sign {
  template <typename T>
  static T At(T x) {
    if constexpr (kIsComplex<T>) return x == T(0) ? x : x / std::abs(x);
    if constexpr (std::is_floating_point_v<T>) return x > 0 ? T(1) : x < 0 ? T(-1) : x;
    if constexpr (std::is_integral_v<T>) return x > 0 ? T(1) : x == 0 ? T(0) : T(-1);
  }
};

void CheckAbs(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckKind(op, op.operand_types[0], kSigned | kFloats | kComplexes);
  CheckResult(op, 0, {RealPart(op.operand_types[0].element), op.operand_types[0].dims});
}

Array Abs(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  const Array& in = operands[0];
  Array out({RealPart(in.element()), dims});
  VisitComputed(in.element(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kIsComplex<T>) {
      MapOne<T, typename T::value_type>(in, out, [](T x) { return std::abs(x); });
    } else if constexpr (std::is_floating_point_v<T>) {
      MapOne<T, T>(in, out, [](T x) { return std::abs(x); });
    } else {
      MapOne<T, T>(in, out, [](T x) { return x < T(0) ? Negate::At(x) : x; });
    }
  });
  return out;
}

template <bool imaginary>
Array PartOf(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  const Array& in = operands[0];
  Array out({RealPart(in.element()), dims});
  VisitComputed(in.element(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kIsComplex<T>) {
      MapOne<T, typename T::value_type>(in, out,
                                        [](T x) { return imaginary ? x.imag() : x.real(); });
    } else if constexpr (std::is_floating_point_v<T>) {
      MapOne<T, T>(in, out, [](T x) { return imaginary ? T(0) : x; });
    }
  });
  return out;
}

void CheckPart(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckKind(op, op.operand_types[0], kFloats | kComplexes);
  CheckResult(op, 0, {RealPart(op.operand_types[0].element), op.operand_types[0].dims});
}

void CheckIsFinite(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckKind(op, op.operand_types[0], kFloats);
  CheckResult(op, 0, {Element::kI1, op.operand_types[0].dims});
}

Array IsFinite(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  const Array& in = operands[0];
  Array out({Element::kI1, dims});
  MapOne<double, uint64_t>(in, out,
                           [](double x) { return static_cast<uint64_t>(std::isfinite(x)); });
  return out;
}

// Integers as their own bits: `f` gets the bits without sign extension, and how many there are.
template <typename F>
Array OfBits(const std::vector<Array>& operands, const Dims& dims, F f) {
  const Array& in = operands[0];
  Array out({in.element(), dims});
  const int width = BitWidth(in.element());
  const uint64_t mask = ~uint64_t{0} >> (64 - width);
  MapOne<uint64_t, uint64_t>(in, out, [&](uint64_t x) { return f(x & mask, width); });
  return out;
}

Array Not(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  return OfBits(operands, dims,
                [](uint64_t x, int width) { return width == 1 ? uint64_t{x == 0} : ~x; });
}
Array PopulationCount(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  return OfBits(operands, dims,
                [](uint64_t x, int) { return static_cast<uint64_t>(__builtin_popcountll(x)); });
}
Array LeadingZeros(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  return OfBits(operands, dims, [](uint64_t x, int width) {
    return static_cast<uint64_t>(x == 0 ? width : __builtin_clzll(x) - (64 - width));
  });
}

}  // namespace

const std::vector<OpRow>& UnaryRows() {
  constexpr unsigned kSmooth = kFloats | kComplexes;
  static const std::vector<OpRow> kRows = {
      UnaryRow<Negate, kNumbers>("stablehlo.negate"),
      UnaryRow<Exponential, kSmooth>("stablehlo.exponential"),
      UnaryRow<ExponentialMinusOne, kSmooth>("stablehlo.exponential_minus_one"),
      UnaryRow<Log, kSmooth>("stablehlo.log"),
      UnaryRow<LogPlusOne, kSmooth>("stablehlo.log_plus_one"),
      UnaryRow<Sqrt, kSmooth>("stablehlo.sqrt"),
      UnaryRow<Rsqrt, kSmooth>("stablehlo.rsqrt"),
      UnaryRow<Cbrt, kFloats>("stablehlo.cbrt"),
      UnaryRow<Tanh, kSmooth>("stablehlo.tanh"),
      UnaryRow<Tangent, kSmooth>("stablehlo.tan"),
      UnaryRow<Sine, kSmooth>("stablehlo.sine"),
      UnaryRow<Cosine, kSmooth>("stablehlo.cosine"),
      UnaryRow<Logistic, kSmooth>("stablehlo.logistic"),
      UnaryRow<Floor, kFloats>("stablehlo.floor"),
      UnaryRow<Ceil, kFloats>("stablehlo.ceil"),
      UnaryRow<RoundAwayFromZero, kFloats>("stablehlo.round_nearest_afz"),
      UnaryRow<RoundToEven, kFloats>("stablehlo.round_nearest_even"),
      UnaryRow<Sign, kSigned | kSmooth>("stablehlo.sign"),
      {"stablehlo.abs", &CheckAbs, &EvaluateLifted<&Abs>, &Abs},
      {"stablehlo.real", &CheckPart, &EvaluateLifted<&PartOf<false>>, &PartOf<false>},
      {"stablehlo.imag", &CheckPart, &EvaluateLifted<&PartOf<true>>, &PartOf<true>},
      {"stablehlo.is_finite", &CheckIsFinite, &EvaluateLifted<&IsFinite>, &IsFinite},
      {"stablehlo.not", &CheckUnary<kIntegers | kBool>, &EvaluateLifted<&Not>, &Not},
      {"stablehlo.popcnt", &CheckUnary<kIntegers>, &EvaluateLifted<&PopulationCount>,
       &PopulationCount},
      {"stablehlo.count_leading_zeros", &CheckUnary<kIntegers>, &EvaluateLifted<&LeadingZeros>,
       &LeadingZeros},
  };
  return kRows;
}

}  // namespace pjref
