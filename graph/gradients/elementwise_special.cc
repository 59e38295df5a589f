// Special functions, element by element.
#include <numbers>

#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

using S = GradientScope;

// The functions of the families of Bessel: each derivative is made of the function of the other
// order. At x = 0 those of order 1 divide 0 by 0; there the limit counts.
template <const char* kOther>
Value Minus(S& s) {
  return s.dy() * -Op(kOther, {s.x()});
}

// other(x) - y / x
template <const char* kOther>
Value LessQuotient(S& s) {
  return s.dy() * (Op(kOther, {s.x()}) - s.y() / s.x());
}

Value AtZero(S& s, double limit, Value otherwise) {
  return s.dy() *
         Select(Compare("Equal", s.x(), Number(s.x(), 0)), Number(s.x(), limit), otherwise);
}

Value OfBesselI0e(S& s) {
  return s.dy() * (Op("BesselI1e", {s.x()}) - Op("Sign", {s.x()}) * s.y());
}
Value OfBesselI1(S& s) { return AtZero(s, 1, Op("BesselI0", {s.x()}) - s.y() / s.x()); }
Value OfBesselI1e(S& s) {
  const Value signs = Op("Sign", {s.x()}) + Op("Reciprocal", {s.x()});
  return AtZero(s, 0.5, Op("BesselI0e", {s.x()}) - s.y() * signs);
}
Value OfBesselJ1(S& s) { return AtZero(s, 0.5, Op("BesselJ0", {s.x()}) - s.y() / s.x()); }
Value OfBesselK0e(S& s) { return s.dy() * (s.y() - Op("BesselK1e", {s.x()})); }
Value OfBesselK1(S& s) { return s.dy() * (-Op("BesselK0", {s.x()}) - s.y() / s.x()); }
Value OfBesselK1e(S& s) {
  return s.dy() * (s.y() * (1.0 - Op("Reciprocal", {s.x()})) - Op("BesselK0e", {s.x()}));
}

// factor exp(y^2 scale) dy: inverses of integrals of exp(-t^2).
Value OfInverseGauss(S& s, double factor, double scale) {
  const Value square = scale == 1 ? Square(s.y()) : scale * Square(s.y());
  return s.dy() * Number(s.dy(), factor) * Op("Exp", {square});
}

Value OfDawsn(S& s) { return s.dy() * (1.0 - 2.0 * s.x() * s.y()); }
Value OfDigamma(S& s) { return s.dy() * Op("Polygamma", {Number(s.x(), 1), s.x()}); }
Value OfExpint(S& s) { return s.dy() * Op("Exp", {s.x()}) / s.x(); }
Value QuarterTurns(S& s) { return Number(s.x(), std::numbers::pi / 2) * Square(s.x()); }

// log(x) / (1 - x), which is -1 at 1.
Value OfSpence(S& s) {
  const Value x = s.x(), is_one = Compare("Equal", x, Number(x, 1));
  return s.dy() * Select(is_one, Number(x, -1), Op("Log", {x}) / (1.0 - x));
}

// exp((a - 1) log(x) - x - lgamma(a)) by x; by a an op of its own.
void SetIgamma(S& s, bool is_upper) {
  const Value a = s.x(0), x = s.x(1);
  const Value by_a = Op("IgammaGradA", {a, x}) * s.dy();
  const Value density = Op("Exp", {-x + (a - 1.0) * Op("Log", {x}) - Op("Lgamma", {a})}) * s.dy();
  const Value da = SumToShapeOf(by_a, a, x), dx = SumToShapeOf(density, x, a);
  s.Set(0, is_upper ? -da : da);
  s.Set(1, is_upper ? -dx : dx);
}

// By x only, as in TensorFlow.
void BetaincGradient(S& s) {
  const Value a = s.x(0), b = s.x(1), x = s.x(2);
  const Value log_beta = Op("Lgamma", {a}) + Op("Lgamma", {b}) - Op("Lgamma", {a + b});
  const Value log_density = Op("Xlog1py", {b - 1.0, -x}) + Op("Xlogy", {a - 1.0, x}) - log_beta;
  s.Set(2, SumToShapeOf(Op("Exp", {log_density}) * s.dy(), x, a));
}

void ZetaGradient(S& s) {
  const Value x = s.x(0), q = s.x(1);
  s.Set(1, SumToShapeOf(-x * Op("Zeta", {x + 1.0, q}) * s.dy(), q, x));
}

void PolygammaGradient(S& s) {
  const Value n = s.x(0), x = s.x(1);
  s.Set(1, SumToShapeOf(Op("Polygamma", {n + 1.0, x}) * s.dy(), x, n));
}

constexpr char kI1[] = "BesselI1", kJ1[] = "BesselJ1", kK1[] = "BesselK1", kY0[] = "BesselY0",
               kY1[] = "BesselY1";
constexpr double kRootPi = 1 / std::numbers::inv_sqrtpi;

constexpr GradientRow kSpecial[] = {
    {"BesselI0", Unary<[](S& s) { return s.dy() * Op(kI1, {s.x()}); }>},
    {"BesselI0e", Unary<OfBesselI0e>},
    {"BesselI1", Unary<OfBesselI1>},
    {"BesselI1e", Unary<OfBesselI1e>},
    {"BesselJ0", Unary<Minus<kJ1>>},
    {"BesselJ1", Unary<OfBesselJ1>},
    {"BesselK0", Unary<Minus<kK1>>},
    {"BesselK0e", Unary<OfBesselK0e>},
    {"BesselK1", Unary<OfBesselK1>},
    {"BesselK1e", Unary<OfBesselK1e>},
    {"BesselY0", Unary<Minus<kY1>>},
    {"BesselY1", Unary<LessQuotient<kY0>>},
    {"Betainc", BetaincGradient},
    {"Dawsn", Unary<OfDawsn>},
    {"Digamma", Unary<OfDigamma>},
    {"Erfinv", Unary<[](S& s) { return OfInverseGauss(s, kRootPi / 2, 1); }>},
    {"Expint", Unary<OfExpint>},
    {"FresnelCos", Unary<[](S& s) { return s.dy() * Op("Cos", {QuarterTurns(s)}); }>},
    {"FresnelSin", Unary<[](S& s) { return s.dy() * Op("Sin", {QuarterTurns(s)}); }>},
    {"Igamma", [](S& s) { SetIgamma(s, false); }},
    {"Igammac", [](S& s) { SetIgamma(s, true); }},
    {"Lgamma", Unary<[](S& s) { return s.dy() * Op("Digamma", {s.x()}); }>},
    {"Ndtri", Unary<[](S& s) { return OfInverseGauss(s, kRootPi * std::numbers::sqrt2, 0.5); }>},
    {"Polygamma", PolygammaGradient},
    {"Spence", Unary<OfSpence>},
    {"Zeta", ZetaGradient},
};

}  // namespace

absl::Span<const GradientRow> ElementwiseSpecial() { return kSpecial; }

}  // namespace tenon::gradients
