// Element loops that gain nothing from vectors: integer division and power, neighbours of floats,
// bits that are set, complex numbers, halves that are rounded on the way.
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "plugin/cpu/base/element.h"
#include "plugin/cpu/elementwise/loops/element_op.h"

namespace tenon::cpu {
namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

// Division with the two cases that trap or are undefined in C++: by zero (checked before, 0 here)
// and of the lowest number by -1 (wraps). The quotient is rounded toward zero.
template <typename T>
T Quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
  }
  return static_cast<T>(a / b);
}
template <typename T>
T Remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

struct TruncateDiv {
  template <typename T>
  static T Do(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::trunc(a / b);
    else
      return Quotient(a, b);
  }
};
struct FloorDiv {
  template <typename T>
  static T Do(T a, T b) {
    const T q = Quotient(a, b);
    if constexpr (std::is_signed_v<T>) {
      // Where the signs differ and something is left, the truncated quotient is one above the
      // floor.
      if (Remainder(a, b) != 0 && (a < 0) != (b < 0)) return static_cast<T>(q - 1);
    }
    return q;
  }
};
struct TruncateMod {
  template <typename T>
  static T Do(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmod(a, b);
    else
      return Remainder(a, b);
  }
};
struct FloorMod {
  template <typename T>
  static T Do(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T r = std::fmod(a, b);
      // The remainder of a truncated quotient has the sign of a; that of a floor has the sign of b.
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else {
      const T r = Remainder(a, b);
      if constexpr (std::is_signed_v<T>) {
        if (r != 0 && (r < 0) != (b < 0)) return static_cast<T>(r + b);
      }
      return r;
    }
  }
};
// Squares and multiplies modulo 2^bits; negative exponents are refused before.
struct IntPow {
  template <typename T>
  static T Do(T a, T b) {
    uint64_t base = static_cast<uint64_t>(a);
    uint64_t result = 1;
    for (uint64_t e = b < 0 ? 0 : static_cast<uint64_t>(b); e != 0; e >>= 1) {
      if (e & 1) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  }
};
// Counts outside of [0, width) act as the nearest inside.
template <typename T>
int ShiftCount(T b) {
  constexpr int kLast = static_cast<int>(sizeof(T)) * 8 - 1;
  if (b < 0) return 0;
  return static_cast<uint64_t>(b) > static_cast<uint64_t>(kLast) ? kLast : static_cast<int>(b);
}
struct LeftShift {
  template <typename T>
  static T Do(T a, T b) {
    // Unsigned and in 64 bits: bits that leave the type are cut off.
    return static_cast<T>(static_cast<uint64_t>(a) << ShiftCount(b));
  }
};
struct RightShift {
  template <typename T>
  static T Do(T a, T b) {
    // Of signed integers the sign moves in, as in TensorFlow.
    return static_cast<T>(a >> ShiftCount(b));
  }
};

// Steps that end in a denormal give it, whatever the mode of the thread.
struct NextAfter {
  template <typename T>
  static T Do(T a, T b) {
    return std::nextafter(a, b);
  }
};
struct PopulationCount {
  template <typename T>
  static uint8_t Do(T a) {
    return static_cast<uint8_t>(std::popcount(a));
  }
};

template <typename Op, typename T, typename R = T>
void Binary(const void* const* in, void* out, int64_t n, float) {
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  R* r = static_cast<R*>(out);
  for (int64_t i = 0; i < n; ++i) r[i] = Op::Do(a[i], b[i]);
}
template <typename Op, typename T, typename R = T>
void Unary(const void* const* in, void* out, int64_t n, float) {
  const T* a = static_cast<const T*>(in[0]);
  R* r = static_cast<R*>(out);
  for (int64_t i = 0; i < n; ++i) r[i] = Op::Do(a[i]);
}

template <typename Op>
ElementLoop Ints(DataType t) {
  switch (t) {
    case DataType::kInt8:
      return &Binary<Op, int8_t>;
    case DataType::kUint8:
      return &Binary<Op, uint8_t>;
    case DataType::kInt16:
      return &Binary<Op, int16_t>;
    case DataType::kUint16:
      return &Binary<Op, uint16_t>;
    case DataType::kInt32:
      return &Binary<Op, int32_t>;
    case DataType::kUint32:
      return &Binary<Op, uint32_t>;
    case DataType::kInt64:
      return &Binary<Op, int64_t>;
    case DataType::kUint64:
      return &Binary<Op, uint64_t>;
    default:
      return nullptr;
  }
}
template <typename Op>
ElementLoop IntsAndFloats(DataType t) {
  if (t == DataType::kFloat) return &Binary<Op, float>;
  if (t == DataType::kDouble) return &Binary<Op, double>;
  return Ints<Op>(t);
}

ElementLoop FindNextAfter(DataType t) {
  if (t == DataType::kFloat) return &Binary<NextAfter, float>;
  return t == DataType::kDouble ? &Binary<NextAfter, double> : nullptr;
}
ElementLoop FindPopulationCount(DataType t) {
  // The count depends on the bits alone: unsigned types serve signed ones.
  if (!IsInteger(t)) return nullptr;
  switch (DataTypeSize(t)) {
    case 1:
      return &Unary<PopulationCount, uint8_t>;
    case 2:
      return &Unary<PopulationCount, uint16_t, uint8_t>;
    case 4:
      return &Unary<PopulationCount, uint32_t, uint8_t>;
    default:
      return &Unary<PopulationCount, uint64_t, uint8_t>;
  }
}

// Near 0 both keep what adding or taking off 1 would round away. The second is Kahan's: the errors
// of 1 + a cancel.
template <typename T>
std::complex<T> Expm1(std::complex<T> a) {
  const T less_one = std::expm1(a.real()), whole = less_one + T(1);
  const T half_sine = std::sin(a.imag() / T(2));
  return {less_one - T(2) * whole * (half_sine * half_sine), whole * std::sin(a.imag())};
}
// Infinite where the absolute value is too large for its type, as in TensorFlow.
template <typename T>
std::complex<T> Log(std::complex<T> a) {
  const std::complex<T> log = std::log(a);
  return std::isinf(std::abs(a)) ? std::complex<T>(std::numeric_limits<T>::infinity(), log.imag())
                                 : log;
}
template <typename T>
std::complex<T> Log1p(std::complex<T> a) {
  const std::complex<T> sum = T(1) + a, log = Log(sum);
  if (sum == T(1) || sum == log) return a;
  return a * (log / (sum - T(1)));
}

// In both, as in TensorFlow, -0 is no negative imaginary part, and what overflows or underflows on
// the way is infinite or 0.
template <typename T>
std::complex<T> Sqrt(std::complex<T> a) {
  const T x = a.real(), y = a.imag(), w = std::sqrt(T(0.5) * (std::abs(x) + std::hypot(x, y)));
  if (std::isinf(y)) return {std::numeric_limits<T>::infinity(), y};
  const T with_sign = y < 0 ? -w : w;
  if (x == 0) return {w, with_sign};
  return x > 0 ? std::complex<T>(w, y / (2 * w))
               : std::complex<T>(std::abs(y) / (2 * w), with_sign);
}
template <typename T>
std::complex<T> Rsqrt(std::complex<T> a) {
  const T x = a.real(), y = a.imag(), length = std::hypot(x, y);
  const T w = std::sqrt(T(0.5) * (std::abs(x) + length)), inverse = w / length;
  if (length == 0) return {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()};
  if (std::isinf(x) || std::isinf(y)) return {0, 0};
  const T with_sign = y < 0 ? inverse : -inverse;
  if (x == 0) return {inverse, with_sign};
  return x > 0 ? std::complex<T>(inverse, -y / (2 * w * length))
               : std::complex<T>(std::abs(y) / (2 * w * length), with_sign);
}

#define TENON_COMPLEX1(NAME, EXPR)                       \
  struct NAME {                                          \
    template <typename C>                                \
    static C Do(C a) {                                   \
      using R [[maybe_unused]] = typename C::value_type; \
      return EXPR;                                       \
    }                                                    \
  };
#define TENON_COMPLEX2(NAME, EXPR) \
  struct NAME {                    \
    template <typename C>          \
    static auto Do(C a, C b) {     \
      return EXPR;                 \
    }                              \
  };
TENON_COMPLEX1(CNeg, -a)
TENON_COMPLEX1(CSquare, a* a)
TENON_COMPLEX1(CSign, a == C(0) ? C(0) : a / std::abs(a))
TENON_COMPLEX1(CSqrt, Sqrt(a))
TENON_COMPLEX1(CRsqrt, Rsqrt(a))
TENON_COMPLEX1(CReciprocal, C(1) / a)
TENON_COMPLEX1(CExp, std::exp(a))
TENON_COMPLEX1(CExpm1, Expm1(a))
TENON_COMPLEX1(CLog, Log(a))
TENON_COMPLEX1(CLog1p, Log1p(a))
TENON_COMPLEX1(CSin, std::sin(a))
TENON_COMPLEX1(CCos, std::cos(a))
TENON_COMPLEX1(CTan, std::tan(a))
TENON_COMPLEX1(CAsin, std::asin(a))
TENON_COMPLEX1(CAcos, std::acos(a))
TENON_COMPLEX1(CAtan, std::atan(a))
TENON_COMPLEX1(CSinh, std::sinh(a))
TENON_COMPLEX1(CCosh, std::cosh(a))
TENON_COMPLEX1(CTanh, std::tanh(a))
TENON_COMPLEX1(CAsinh, std::asinh(a))
TENON_COMPLEX1(CAcosh, std::acosh(a))
TENON_COMPLEX1(CAtanh, std::atanh(a))
TENON_COMPLEX1(CSigmoid, C(1) / (C(1) + std::exp(-a)))
TENON_COMPLEX1(CRint, C(std::rint(a.real()), std::rint(a.imag())))
TENON_COMPLEX2(CAdd, a + b)
TENON_COMPLEX2(CSub, a - b)
TENON_COMPLEX2(CMul, a* b)
TENON_COMPLEX2(CDiv, a / b)
TENON_COMPLEX2(CDivNoNan, b == C(0) ? C(0) : a / b)
TENON_COMPLEX2(CMulNoNan, b == C(0) ? C(0) : a * b)
// The square of the absolute value, as in TensorFlow.
TENON_COMPLEX2(CSquaredDifference, std::conj(a - b) * (a - b))
TENON_COMPLEX2(CPow, std::pow(a, b))
TENON_COMPLEX2(CXdivy, a == C(0) ? C(0) : a / b)
TENON_COMPLEX2(CXlogy, a == C(0) ? C(0) : a * Log(b))
TENON_COMPLEX2(CXlog1py, a == C(0) ? C(0) : a * Log1p(b))
TENON_COMPLEX2(CEqual, a == b)
TENON_COMPLEX2(CNotEqual, a != b)
TENON_COMPLEX2(CTanhGrad, b*(C(1) - a * a))
TENON_COMPLEX2(CSigmoidGrad, b* a*(C(1) - a))
// A gradient of 0 stays 0, whatever it is multiplied with.
TENON_COMPLEX2(CSqrtGrad, b == C(0) ? C(0) : C(0.5) * b / std::conj(a))
TENON_COMPLEX2(CRsqrtGrad,
               b == C(0) ? C(0) : C(-0.5) * (b * std::conj(a)) * (std::conj(a) * std::conj(a)))
TENON_COMPLEX2(CReciprocalGrad, b == C(0) ? C(0) : -std::conj(a) * std::conj(a) * b)

template <typename C>
void ComplexSelect(const void* const* in, void* out, int64_t n, float) {
  const bool* c = static_cast<const bool*>(in[0]);
  for (int64_t i = 0; i < n; ++i) {
    const void* from = static_cast<const C*>(in[c[i] ? 1 : 2]) + i;
    std::memcpy(static_cast<C*>(out) + i, from, sizeof(C));
  }
}
// Each part between those of the bounds.
template <typename C>
void ComplexClip(const void* const* in, void* out, int64_t n, float) {
  using T = typename C::value_type;
  const T* x = static_cast<const T*>(in[0]);
  const T* low = static_cast<const T*>(in[1]);
  const T* high = static_cast<const T*>(in[2]);
  for (int64_t i = 0; i < 2 * n; ++i) {
    const T capped = high[i] < x[i] ? high[i] : x[i];
    static_cast<T*>(out)[i] = capped < low[i] ? low[i] : capped;
  }
}
template <typename C>
void ComplexApproximateEqual(const void* const* in, void* out, int64_t n, float param) {
  const C* a = static_cast<const C*>(in[0]);
  const C* b = static_cast<const C*>(in[1]);
  for (int64_t i = 0; i < n; ++i) static_cast<bool*>(out)[i] = std::abs(a[i] - b[i]) <= param;
}

template <typename C>
ElementLoop FindComplex(ElementOp op) {  // NOLINT(readability-function-size): a table
  switch (op) {
    case ElementOp::kNeg:
      return &Unary<CNeg, C>;
    case ElementOp::kSquare:
      return &Unary<CSquare, C>;
    case ElementOp::kSign:
      return &Unary<CSign, C>;
    case ElementOp::kSqrt:
      return &Unary<CSqrt, C>;
    case ElementOp::kRsqrt:
      return &Unary<CRsqrt, C>;
    case ElementOp::kReciprocal:
      return &Unary<CReciprocal, C>;
    case ElementOp::kExp:
      return &Unary<CExp, C>;
    case ElementOp::kExpm1:
      return &Unary<CExpm1, C>;
    case ElementOp::kLog:
      return &Unary<CLog, C>;
    case ElementOp::kLog1p:
      return &Unary<CLog1p, C>;
    case ElementOp::kSin:
      return &Unary<CSin, C>;
    case ElementOp::kCos:
      return &Unary<CCos, C>;
    case ElementOp::kTan:
      return &Unary<CTan, C>;
    case ElementOp::kAsin:
      return &Unary<CAsin, C>;
    case ElementOp::kAcos:
      return &Unary<CAcos, C>;
    case ElementOp::kAtan:
      return &Unary<CAtan, C>;
    case ElementOp::kSinh:
      return &Unary<CSinh, C>;
    case ElementOp::kCosh:
      return &Unary<CCosh, C>;
    case ElementOp::kTanh:
      return &Unary<CTanh, C>;
    case ElementOp::kAsinh:
      return &Unary<CAsinh, C>;
    case ElementOp::kAcosh:
      return &Unary<CAcosh, C>;
    case ElementOp::kAtanh:
      return &Unary<CAtanh, C>;
    case ElementOp::kSigmoid:
      return &Unary<CSigmoid, C>;
    case ElementOp::kRint:
      return &Unary<CRint, C>;
    case ElementOp::kAdd:
      return &Binary<CAdd, C>;
    case ElementOp::kSub:
      return &Binary<CSub, C>;
    case ElementOp::kMul:
      return &Binary<CMul, C>;
    case ElementOp::kDiv:
      return &Binary<CDiv, C>;
    case ElementOp::kDivNoNan:
      return &Binary<CDivNoNan, C>;
    case ElementOp::kMulNoNan:
      return &Binary<CMulNoNan, C>;
    case ElementOp::kSquaredDifference:
      return &Binary<CSquaredDifference, C>;
    case ElementOp::kPow:
      return &Binary<CPow, C>;
    case ElementOp::kXdivy:
      return &Binary<CXdivy, C>;
    case ElementOp::kXlogy:
      return &Binary<CXlogy, C>;
    case ElementOp::kXlog1py:
      return &Binary<CXlog1py, C>;
    case ElementOp::kEqual:
      return &Binary<CEqual, C, bool>;
    case ElementOp::kNotEqual:
      return &Binary<CNotEqual, C, bool>;
    case ElementOp::kApproximateEqual:
      return &ComplexApproximateEqual<C>;
    case ElementOp::kTanhGrad:
      return &Binary<CTanhGrad, C>;
    case ElementOp::kSigmoidGrad:
      return &Binary<CSigmoidGrad, C>;
    case ElementOp::kSqrtGrad:
      return &Binary<CSqrtGrad, C>;
    case ElementOp::kRsqrtGrad:
      return &Binary<CRsqrtGrad, C>;
    case ElementOp::kReciprocalGrad:
      return &Binary<CReciprocalGrad, C>;
    case ElementOp::kSelect:
      return &ComplexSelect<C>;
    case ElementOp::kClip:
      return &ComplexClip<C>;
    default:
      return nullptr;
  }
}

// Half and bfloat16 are computed as float, but here TensorFlow rounds after every step: the
// quotient before it becomes whole, the difference before its square, the power before 1 is taken
// off.
template <typename Element>
struct Rounded {
  static float Get(const void* data, int64_t i) { return Element().template As<float>(data, i); }
  static float Round(float x) {
    uint16_t bits;
    Element().Put(&bits, 0, x);
    return Get(&bits, 0);
  }
  template <float (*kWhole)(float)>
  static void Quotient(const void* const* in, void* out, int64_t n, float) {
    for (int64_t i = 0; i < n; ++i)
      Element().Put(out, i, kWhole(Round(Get(in[0], i) / Get(in[1], i))));
  }
  static void SquaredDifference(const void* const* in, void* out, int64_t n, float) {
    for (int64_t i = 0; i < n; ++i) {
      const float difference = Round(Get(in[0], i) - Get(in[1], i));
      Element().Put(out, i, difference * difference);
    }
  }
  static float Elu(float x) { return x < 0 ? Round(Round(std::exp(x)) - 1) : x; }
  static float Selu(float x) { return x < 0 ? Round(kSeluBelow * Elu(x)) : Round(kSelu * x); }
  static float EluGrad(float grad, float y) { return y < 0 ? Round(Round(y + 1) * grad) : grad; }
  static float SeluGrad(float grad, float y) {
    return Round(grad * (y < 0 ? Round(y + kSeluBelow) : kSelu));
  }
  template <float (*kOf)(float)>
  static void Each(const void* const* in, void* out, int64_t n, float) {
    for (int64_t i = 0; i < n; ++i) Element().Put(out, i, kOf(Get(in[0], i)));
  }
  template <float (*kOf)(float, float)>
  static void Both(const void* const* in, void* out, int64_t n, float) {
    for (int64_t i = 0; i < n; ++i) Element().Put(out, i, kOf(Get(in[0], i), Get(in[1], i)));
  }
  static ElementLoop Find(ElementOp op) {
    switch (op) {
      case ElementOp::kFloorDiv:
        return &Quotient<floorf>;
      case ElementOp::kTruncateDiv:
        return &Quotient<truncf>;
      case ElementOp::kSquaredDifference:
        return &SquaredDifference;
      case ElementOp::kElu:
        return &Each<Elu>;
      case ElementOp::kSelu:
        return &Each<Selu>;
      case ElementOp::kEluGrad:
        return &Both<EluGrad>;
      case ElementOp::kSeluGrad:
        return &Both<SeluGrad>;
      default:
        return nullptr;
    }
  }

 private:
  // Selu's factors, as the type rounds them.
  static inline const float kSelu = Round(1.0507009873554805f);
  static inline const float kSeluBelow = Round(1.7580993408473768f);
};

}  // namespace

ElementLoop FindSlow(ElementOp op, DataType t) {
  if (t == DataType::kComplex64) return FindComplex<std::complex<float>>(op);
  if (t == DataType::kComplex128) return FindComplex<std::complex<double>>(op);
  if (t == DataType::kHalf) return Rounded<HalfElement>::Find(op);
  if (t == DataType::kBfloat16) return Rounded<Bfloat16Element>::Find(op);
  switch (op) {
    case ElementOp::kDiv:
    case ElementOp::kTruncateDiv:
      return IntsAndFloats<TruncateDiv>(t);
    case ElementOp::kFloorDiv:
      return Ints<FloorDiv>(t);
    case ElementOp::kTruncateMod:
      return IntsAndFloats<TruncateMod>(t);
    case ElementOp::kFloorMod:
      return IntsAndFloats<FloorMod>(t);
    case ElementOp::kPow:
      return Ints<IntPow>(t);
    case ElementOp::kLeftShift:
      return Ints<LeftShift>(t);
    case ElementOp::kRightShift:
      return Ints<RightShift>(t);
    case ElementOp::kNextAfter:
      return FindNextAfter(t);
    case ElementOp::kPopulationCount:
      return FindPopulationCount(t);
    default:
      return nullptr;
  }
}

}  // namespace tenon::cpu
