// CHLO's functions of one and two elements, in double.
#include <cmath>
#include <limits>

#include "checks.h"
#include "elementwise.h"
#include "families.h"

namespace pjref {
namespace {

constexpr double kPi = 3.14159265358979323846;

template <double (*f)(double)>
Array Special(const Op& op, const std::vector<Array>& operands, const Dims& dims) {
  Array out({op.result_types[0].element, dims});
  MapOne<double, double>(operands[0], out, [](double x) { return f(x); });
  return out;
}

template <double (*f)(double, double)>
Array SpecialOfTwo(const Op& op, const std::vector<Array>& operands, const Dims& dims) {
  Array out({op.result_types[0].element, dims});
  MapTwo<double, double>(operands[0], operands[1], out, [](double x, double y) { return f(x, y); });
  return out;
}

template <size_t operands>
void CheckSpecial(const Op& op) {
  CheckCounts(op, operands, 1);
  CheckKind(op, op.operand_types[0], kFloats);
  for (const Type& type : op.operand_types)
    CheckThat(op, type == op.operand_types[0], "requires the same type for all operands");
  CheckResult(op, 0, op.operand_types[0]);
}

template <double (*f)(double)>
OpRow SpecialRow(std::string_view name) {
  return {name, &CheckSpecial<1>, &EvaluateLifted<&Special<f>>, &Special<f>};
}
template <double (*f)(double, double)>
OpRow SpecialRowOfTwo(std::string_view name) {
  return {name, &CheckSpecial<2>, &EvaluateLifted<&SpecialOfTwo<f>>, &SpecialOfTwo<f>};
}

double Erf(double x) { return std::erf(x); }
double Erfc(double x) { return std::erfc(x); }
double Acos(double x) { return std::acos(x); }
double Acosh(double x) { return std::acosh(x); }
double Asin(double x) { return std::asin(x); }
double Asinh(double x) { return std::asinh(x); }
double Atan(double x) { return std::atan(x); }
double Atanh(double x) { return std::atanh(x); }
double Cosh(double x) { return std::cosh(x); }
double Sinh(double x) { return std::sinh(x); }
double Tan(double x) { return std::tan(x); }
double Square(double x) { return x * x; }
double Conj(double x) { return x; }

// std::lgamma writes a global variable, so threads would race.
double LogGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// From a good start two steps of Newton's method.
double ErfInverse(double x) {
  if (!(std::abs(x) < 1)) {
    if (std::abs(x) == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double size = std::abs(x);
  const double log = std::log1p(-x * x);
  const double a = 2 / (kPi * 0.147) + log / 2;
  double y = std::sqrt(std::sqrt(a * a - log / 0.147) - a);
  for (int step = 0; step < 4; ++step) {
    // Near 1, the difference of complements keeps its digits.
    const double error = size > 0.5 ? (1 - size) - std::erfc(y) : std::erf(y) - size;
    const double slope = 2 / std::sqrt(kPi) * std::exp(-y * y);
    if (slope == 0) break;
    y -= error / slope;
  }
  return std::copysign(y, x);
}

// By recurrence to large arguments, then its asymptotic series; by reflection below 0.
double Digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0 && x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
  if (x < 0) return Digamma(1 - x) - kPi / std::tan(kPi * x);
  double sum = 0;
  while (x < 12) {
    sum -= 1 / x;
    x += 1;
  }
  const double y = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132)))));
}

// Hurwitz' zeta function by the formula of Euler and Maclaurin, for x > 1 and q > 0.
double Zeta(double x, double q) {
  if (!(x > 1))
    return x == 1 ? std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  if (!(q > 0))
    return q == std::floor(q) ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (int i = 0; i < 12; ++i, q += 1) sum += std::pow(q, -x);
  sum += std::pow(q, 1 - x) / (x - 1) + std::pow(q, -x) / 2;
  constexpr double kBernoulli[] = {1.0 / 12,       -1.0 / 720,     1.0 / 30240,
                                   -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000};
  double factor = x * std::pow(q, -x - 1);
  for (int i = 0; i < 6; ++i) {
    sum += kBernoulli[i] * factor;
    factor *= (x + 2 * i + 1) * (x + 2 * i + 2) / (q * q);
  }
  return sum;
}

double Polygamma(double n, double x) {
  if (n == 0) return Digamma(x);
  if (n < 0 || n != std::floor(n)) return std::numeric_limits<double>::quiet_NaN();
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return sign * std::exp(LogGamma(n + 1)) * Zeta(n + 1, x);
}

void CheckNextAfter(const Op& op) {
  CheckSpecial<2>(op);
  const Element element = op.operand_types[0].element;
  if (element != Element::kF32 && element != Element::kF64)
    op.NotBuilt("is not built for '" + ToString(op.operand_types[0]) + "'");
}

Array NextAfter(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  Array out({operands[0].element(), dims});
  if (out.element() == Element::kF64) {
    MapTwo<double, double>(operands[0], operands[1], out,
                           [](double a, double b) { return std::nextafter(a, b); });
  } else {
    MapTwo<float, float>(operands[0], operands[1], out,
                         [](float a, float b) { return std::nextafter(a, b); });
  }
  return out;
}

template <bool (*holds)(double)>
Array Test(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  Array out({Element::kI1, dims});
  MapOne<double, uint64_t>(operands[0], out,
                           [](double x) { return static_cast<uint64_t>(holds(x)); });
  return out;
}
void CheckTest(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckKind(op, op.operand_types[0], kFloats);
  CheckResult(op, 0, {Element::kI1, op.operand_types[0].dims});
}
bool IsInf(double x) { return std::isinf(x); }
bool IsPosInf(double x) { return std::isinf(x) && x > 0; }
bool IsNegInf(double x) { return std::isinf(x) && x < 0; }

template <bool (*holds)(double)>
OpRow TestRow(std::string_view name) {
  return {name, &CheckTest, &EvaluateLifted<&Test<holds>>, &Test<holds>};
}

}  // namespace

const std::vector<OpRow>& SpecialRows() {
  static const std::vector<OpRow> kRows = {
      SpecialRow<&Erf>("chlo.erf"),
      SpecialRow<&Erfc>("chlo.erfc"),
      SpecialRow<&ErfInverse>("chlo.erf_inv"),
      SpecialRow<&LogGamma>("chlo.lgamma"),
      SpecialRow<&Digamma>("chlo.digamma"),
      SpecialRow<&Acos>("chlo.acos"),
      SpecialRow<&Acosh>("chlo.acosh"),
      SpecialRow<&Asin>("chlo.asin"),
      SpecialRow<&Asinh>("chlo.asinh"),
      SpecialRow<&Atan>("chlo.atan"),
      SpecialRow<&Atanh>("chlo.atanh"),
      SpecialRow<&Cosh>("chlo.cosh"),
      SpecialRow<&Sinh>("chlo.sinh"),
      SpecialRow<&Tan>("chlo.tan"),
      SpecialRow<&Square>("chlo.square"),
      SpecialRow<&Conj>("chlo.conj"),
      SpecialRowOfTwo<&Zeta>("chlo.zeta"),
      SpecialRowOfTwo<&Polygamma>("chlo.polygamma"),
      {"chlo.next_after", &CheckNextAfter, &EvaluateLifted<&NextAfter>, &NextAfter},
      TestRow<&IsInf>("chlo.is_inf"),
      TestRow<&IsPosInf>("chlo.is_pos_inf"),
      TestRow<&IsNegInf>("chlo.is_neg_inf"),
  };
  return kRows;
}

}  // namespace pjref
