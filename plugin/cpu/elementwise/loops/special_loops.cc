// Loops of the special functions. What Eigen has goes through Eigen, from which TensorFlow takes
// it.
#include <cmath>
#include <limits>
#include <numbers>
#include <unsupported/Eigen/SpecialFunctions>

#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/elementwise/loops/special_functions.h"

namespace tenon::cpu {
namespace {

using namespace Eigen::numext;  // NOLINT: the functions of one name per op

template <typename T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

// The quantile of the normal distribution.
template <typename T>
T Quantile(T p) {
  return p >= 0 && p <= 1 ? ndtri(p) : kNan<T>;
}

// NaN unless the order n is a whole number >= 0. An infinite n + 1 counts as even.
double PolygammaOf(double n, double x) {
  if (n == 0) return digamma(x);
  if (!(n > 0) || n != std::floor(n)) return kNan<double>;
  // The sign is that of (-1)^(n + 1) as the sum is rounded: of a great even n too it is even.
  const double next = n + 1;
  const double magnitude = std::tgamma(next) * HurwitzZeta(next, x);
  return std::fmod(next, 2) == 1 ? -magnitude : magnitude;
}

// A denormal becomes the zero of its sign, for which arithmetic takes it and a logarithm does not.
template <typename T>
T Flushed(T x) {
  return x == 0 ? std::copysign(T{0}, x) : x;
}

#define TENON_SPECIAL1(NAME, EXPR)                                \
  template <typename T>                                           \
  void NAME(const void* const* in, void* out, int64_t n, float) { \
    for (int64_t i = 0; i < n; ++i) {                             \
      const T x = static_cast<const T*>(in[0])[i];                \
      static_cast<T*>(out)[i] = static_cast<T>(EXPR);             \
    }                                                             \
  }
#define TENON_SPECIAL2(NAME, EXPR)                                \
  template <typename T>                                           \
  void NAME(const void* const* in, void* out, int64_t n, float) { \
    for (int64_t i = 0; i < n; ++i) {                             \
      const T a = static_cast<const T*>(in[0])[i];                \
      const T x = static_cast<const T*>(in[1])[i];                \
      static_cast<T*>(out)[i] = static_cast<T>(EXPR);             \
    }                                                             \
  }
TENON_SPECIAL1(BesselI0Loop, bessel_i0(x))
TENON_SPECIAL1(BesselI0eLoop, bessel_i0e(x))
TENON_SPECIAL1(BesselI1Loop, bessel_i1(x))
TENON_SPECIAL1(BesselI1eLoop, bessel_i1e(x))
TENON_SPECIAL1(BesselJ0Loop, bessel_j0(x))
TENON_SPECIAL1(BesselJ1Loop, bessel_j1(x))
TENON_SPECIAL1(BesselK0Loop, bessel_k0(x))
TENON_SPECIAL1(BesselK0eLoop, bessel_k0e(x))
TENON_SPECIAL1(BesselK1Loop, bessel_k1(x))
TENON_SPECIAL1(BesselK1eLoop, bessel_k1e(x))
TENON_SPECIAL1(BesselY0Loop, bessel_y0(x))
TENON_SPECIAL1(BesselY1Loop, bessel_y1(Flushed(x)))
TENON_SPECIAL1(DigammaLoop, digamma(x))
TENON_SPECIAL1(NdtriLoop, Quantile(x))
// erfinv(x) is the normal quantile of (x + 1) / 2, over the square root of 2.
TENON_SPECIAL1(ErfinvLoop, Quantile((x + 1) / 2) / std::numbers::sqrt2_v<T>)
TENON_SPECIAL1(DawsnLoop, Dawson(x))
TENON_SPECIAL1(ExpintLoop, ExpIntegral(x))
TENON_SPECIAL1(FresnelCosLoop, FresnelCos(x))
TENON_SPECIAL1(FresnelSinLoop, FresnelSin(x))
TENON_SPECIAL1(SpenceLoop, Spence(x))
TENON_SPECIAL2(IgammaLoop, igamma(a, x))
TENON_SPECIAL2(IgammaGradALoop, igamma_der_a(a, x))
TENON_SPECIAL2(RandomGammaGradLoop, gamma_sample_der_alpha(a, x))
TENON_SPECIAL2(IgammacLoop, igammac(a, x))
TENON_SPECIAL2(PolygammaLoop, PolygammaOf(a, x))
TENON_SPECIAL2(ZetaLoop, HurwitzZeta(a, x))

template <typename T>
void BetaincLoop(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<T*>(out)[i] =
        betainc(static_cast<const T*>(in[0])[i], static_cast<const T*>(in[1])[i],
                static_cast<const T*>(in[2])[i]);
  }
}

template <typename T>
ElementLoop Find(ElementOp op) {
  switch (op) {
    case ElementOp::kBesselI0:
      return &BesselI0Loop<T>;
    case ElementOp::kBesselI0e:
      return &BesselI0eLoop<T>;
    case ElementOp::kBesselI1:
      return &BesselI1Loop<T>;
    case ElementOp::kBesselI1e:
      return &BesselI1eLoop<T>;
    case ElementOp::kBesselJ0:
      return &BesselJ0Loop<T>;
    case ElementOp::kBesselJ1:
      return &BesselJ1Loop<T>;
    case ElementOp::kBesselK0:
      return &BesselK0Loop<T>;
    case ElementOp::kBesselK0e:
      return &BesselK0eLoop<T>;
    case ElementOp::kBesselK1:
      return &BesselK1Loop<T>;
    case ElementOp::kBesselK1e:
      return &BesselK1eLoop<T>;
    case ElementOp::kBesselY0:
      return &BesselY0Loop<T>;
    case ElementOp::kBesselY1:
      return &BesselY1Loop<T>;
    case ElementOp::kDigamma:
      return &DigammaLoop<T>;
    case ElementOp::kNdtri:
      return &NdtriLoop<T>;
    case ElementOp::kErfinv:
      return &ErfinvLoop<T>;
    case ElementOp::kDawsn:
      return &DawsnLoop<T>;
    case ElementOp::kExpint:
      return &ExpintLoop<T>;
    case ElementOp::kFresnelCos:
      return &FresnelCosLoop<T>;
    case ElementOp::kFresnelSin:
      return &FresnelSinLoop<T>;
    case ElementOp::kSpence:
      return &SpenceLoop<T>;
    case ElementOp::kIgamma:
      return &IgammaLoop<T>;
    case ElementOp::kIgammaGradA:
      return &IgammaGradALoop<T>;
    case ElementOp::kRandomGammaGrad:
      return &RandomGammaGradLoop<T>;
    case ElementOp::kIgammac:
      return &IgammacLoop<T>;
    case ElementOp::kPolygamma:
      return &PolygammaLoop<T>;
    case ElementOp::kZeta:
      return &ZetaLoop<T>;
    case ElementOp::kBetainc:
      return &BetaincLoop<T>;
    default:
      return nullptr;
  }
}

}  // namespace

ElementLoop FindSpecial(ElementOp op, DataType t) {
  if (t == DataType::kFloat) return Find<float>(op);
  if (t == DataType::kDouble) return Find<double>(op);
  return nullptr;
}

}  // namespace tenon::cpu
