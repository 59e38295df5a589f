// Special functions in double precision, each from the series, sum or continued fraction that
// converges fast for its argument: Dawson's and Fresnel's integrals, the dilogarithm (Spence),
// Hurwitz' zeta function. The exponential integral is Boost's.
#include "plugin/cpu/elementwise/loops/special_functions.h"

#include <boost/math/special_functions/expint.hpp>
#include <cmath>
#include <complex>
#include <iterator>
#include <limits>
#include <numbers>

namespace tenon::cpu {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Half a unit in the last place of 1: a smaller relative term changes no sum.
constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;

// x - 2/3 x^3 + 2/3 2/5 x^5 - ..., for small x.
double DawsonSeries(double x) {
  double sum = x;
  double term = x;
  for (int odd = 3; std::abs(term) > kEpsilon * std::abs(sum); odd += 2) {
    term *= -2 * x * x / odd;
    sum += term;
  }
  return sum;
}

// 1/(2x) (1 + 1/(2x^2) + 1*3/(2x^2)^2 + ...), for x >= 10, where the terms fall long enough.
double DawsonAsymptotic(double x) {
  double sum = 1;
  double term = 1;
  for (int odd = 1; term > kEpsilon; odd += 2) {
    term *= odd / (2 * x * x);
    sum += term;
  }
  return sum / (2 * x);
}

// Rybicki's sum of Gaussians at the odd multiples of a step: it errs by e^-(pi / 2 step)^2, which
// is below the last place.
double DawsonGaussians(double x) {
  constexpr double kStep = 0.25;
  constexpr int kLast = 27;  // the next Gaussian is below the last place
  const double nearest = 2 * std::round(x / (2 * kStep));
  const double rest = x - nearest * kStep;
  double sum = 0;
  for (int odd = -kLast; odd <= kLast; odd += 2) {
    const double distance = rest - odd * kStep;
    sum += std::exp(-distance * distance) / (nearest + odd);
  }
  return sum / std::sqrt(kPi);
}

// e^(i pi x^2 / 2), the angle reduced exactly.
std::complex<double> FresnelWave(double x) {
  const double square = x * x;
  // The rounding error of x * x, exactly: for large x it is a part of a turn that counts.
  const double error = std::fma(x, x, -square);
  const double angle = kPi / 2 * (std::fmod(square, 4) + std::fmod(error, 4));
  return {std::cos(angle), std::sin(angle)};
}

// Both Fresnel integrals of x >= 0.
std::complex<double> Fresnel(double x) {
  using Complex = std::complex<double>;
  // The power series of the sum; for larger x its terms grow before they fall, and cancel.
  if (x < 1.6) {
    const Complex step(0, kPi / 2 * x * x);
    Complex sum = x;
    Complex term = x;
    for (int n = 1; std::norm(term) > kEpsilon * kEpsilon * std::norm(sum); ++n) {
      term *= step / static_cast<double>(n);
      sum += term / (2.0 * n + 1);
    }
    return sum;
  }
  if (x > 1e17) return {0.5, 0.5};  // the wave is below the last place
  // (1 + i)/2 erf(w), w = sqrt(pi)/2 (1 - i) x, from the continued fraction of erfc.
  constexpr int kDepth = 40;  // enough at 1.6
  const Complex w = std::sqrt(kPi) / 2 * Complex(x, -x);
  const Complex twice_square(0, -kPi * x * x);
  Complex fraction = 0;
  // From the innermost fraction outwards.
  for (int n = kDepth; n > 0; --n)
    fraction = (2.0 * n - 1) * (2.0 * n) / (twice_square + (4.0 * n + 1) - fraction);
  const Complex scaled_erfc = 2.0 * w / (twice_square + 1.0 - fraction) / std::sqrt(kPi);
  return Complex(0.5, 0.5) * (1.0 - FresnelWave(x) * scaled_erfc);
}

// The dilogarithm of 1 - e^-u for |u| <= ln 2: the sum of B_n u^(n+1) / (n+1)! over the Bernoulli
// numbers.
double DilogarithmSeries(double u) {
  constexpr double kFromCube[] = {1.0 / 36,
                                  -1.0 / 3600,
                                  1.0 / 211680,
                                  -1.0 / 10886400,
                                  1.0 / 526901760,
                                  -691.0 / 2730 / 6227020800,
                                  7.0 / 6 / 1307674368000,
                                  -3617.0 / 510 / 355687428096000};
  const double square = u * u;
  double sum = 0;
  for (int i = static_cast<int>(std::size(kFromCube)) - 1; i >= 0; --i)
    sum = sum * square + kFromCube[i];
  return u - square / 4 + sum * square * u;
}

// For x > 1 and q > 0: some terms one by one, the rest by the Euler-Maclaurin formula.
double PositiveZeta(double x, double q) {
  // B_2j / (2j)!
  constexpr double kCorrections[] = {1.0 / 12,
                                     -1.0 / 720,
                                     1.0 / 30240,
                                     -1.0 / 1209600,
                                     1.0 / 47900160,
                                     -691.0 / 1307674368000,
                                     1.0 / 74724249600,
                                     -3617.0 / 10670622842880000,
                                     43867.0 / 5109094217170944000};
  constexpr int kTerms = 10;
  double sum = 0;
  for (int k = 0; k < kTerms; ++k, q += 1) {
    const double term = std::pow(q, -x);
    sum += term;
    if (term <= kEpsilon * sum) return sum;
  }
  const double next = std::pow(q, -x);
  sum += next * q / (x - 1) + next / 2;
  double derivative = next * x / q;
  double order = x + 1;
  for (const double correction : kCorrections) {
    const double term = correction * derivative;
    sum += term;
    if (std::abs(term) <= kEpsilon * std::abs(sum)) break;
    derivative *= order / q * (order + 1) / q;
    order += 2;
  }
  return sum;
}

}  // namespace

double Dawson(double x) {
  const double magnitude = std::abs(x);
  if (magnitude < 0.2) return DawsonSeries(x);
  return std::copysign(magnitude < 10 ? DawsonGaussians(magnitude) : DawsonAsymptotic(magnitude),
                       x);
}

double ExpIntegral(double x) {
  if (!(x >= 0) || std::isinf(x)) return kNan;
  if (x == 0) return -kInf;
  using namespace boost::math::policies;  // NOLINT: for this line only
  return boost::math::expint(x, policy<promote_double<false>, overflow_error<ignore_error>>());
}

double FresnelCos(double x) { return std::copysign(Fresnel(std::abs(x)).real(), x); }
double FresnelSin(double x) { return std::copysign(Fresnel(std::abs(x)).imag(), x); }

double Spence(double x) {
  if (!(x >= 0) || std::isinf(x)) return kNan;
  if (x == 0) return kPi * kPi / 6;
  const double log = std::log(x);
  // Inversion and reflection bring x into [0.5, 2], where the series converges fast.
  if (x > 2) return -log * log / 2 - Spence(1 / x);
  if (x >= 0.5) return DilogarithmSeries(-log);
  const double log_rest = std::log1p(-x);
  return kPi * kPi / 6 - log * log_rest - DilogarithmSeries(-log_rest);
}

double HurwitzZeta(double x, double q) {
  if (x == 1) return kInf;
  if (!(x > 1) || std::isnan(q)) return kNan;
  if (q > 0) return PositiveZeta(x, q);
  const bool even = std::isinf(x) || std::fmod(x, 2) == 0;
  // A whole q <= 0 makes one term 1 / 0^x: infinite for even x, undefined for any other x.
  if (q == std::floor(q)) return even ? kInf : kNan;
  // Powers of negative numbers are real for whole exponents only.
  if (x != std::floor(x)) return kNan;
  // The terms of negative numbers are a difference of two such sums.
  const double below_zero = PositiveZeta(x, std::ceil(q) - q) - PositiveZeta(x, 1 - q);
  return PositiveZeta(x, q - std::floor(q)) + (even ? below_zero : -below_zero);
}

}  // namespace tenon::cpu
