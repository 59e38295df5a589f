// Arithmetic, selection and activations, element by element. Ops that broadcast sum the gradient
// over what was repeated (SumToShapeOf).
#include <numbers>

#include "absl/strings/str_cat.h"
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// Sets the gradients of the two operands of an op that broadcasts, which have the shape of its
// result.
void SetBoth(GradientScope& s, Value dx0, Value dx1) {
  s.Set(0, SumToShapeOf(dx0, s.x(0), s.x(1)));
  s.Set(1, SumToShapeOf(dx1, s.x(1), s.x(0)));
}

// --- One operand. Derivatives are those of the conjugate, as gradients of complex functions are.

Value OfTan(GradientScope& s) {
  return Square(Op("Reciprocal", {Op("Cos", {Conj(s.x())})})) * s.dy();
}

// 1 / sqrt(1 - x^2)
Value OfAsin(GradientScope& s) {
  return s.dy() * Op("Reciprocal", {Op("Sqrt", {1.0 - Square(Conj(s.x()))})});
}

Value OfAtan(GradientScope& s) {
  return s.dy() * Op("Reciprocal", {Number(s.x(), 1) + Square(Conj(s.x()))});
}

Value OfAtanh(GradientScope& s) { return s.dy() * Op("Reciprocal", {1.0 - Square(Conj(s.x()))}); }

Value GaussTimes(GradientScope& s, double factor) {
  return s.dy() * Number(s.dy(), factor) * Op("Exp", {-Square(Conj(s.x()))});
}

Value OfAngle(GradientScope& s) {
  const NewAttrs type = {{"Tout", attr::Type(s.y().dtype())}};
  const Value re = Op("Real", {s.x()}, type), im = Op("Imag", {s.x()}, type);
  const NewAttrs whole = {{"Tout", attr::Type(s.x().dtype())}};
  const Value inverse = Op("Reciprocal", {Op("Complex", {im, re}, whole)});
  return -Op("Complex", {s.dy(), Number(s.dy(), 0)}, whole) * inverse;
}

Value OfComplexAbs(GradientScope& s) {
  const NewAttrs whole = {{"Tout", attr::Type(s.x().dtype())}};
  return Op("DivNoNan", {Op("Complex", {s.dy(), ZerosLike(s.dy())}, whole) * s.x(),
                         Op("Complex", {s.y(), ZerosLike(s.y())}, whole)});
}

// The derivative of Cast between types that carry gradients; others pass none on.
void CastGradient(GradientScope& s) {
  if (CarriesGradient(s.x().dtype()) && CarriesGradient(s.y().dtype()))
    s.Set(0, Cast(s.dy(), s.x().dtype()));
}

Value OfCheckNumerics(GradientScope& s) {
  return Op(s.op(), {s.dy()},
            {{"message", attr::String(absl::StrCat("Not a number (NaN) or infinity (Inf) values "
                                                   "detected in gradient. ",
                                                   s.String("message")))}});
}

// --- Gradients of gradients: input 0 is the value y of the first op, or 1 the value x, as it is.

// a = y, b = dy of y = 1 / x: -b a^2
void ReciprocalGradGradient(GradientScope& s) {
  const Value ca = Conj(s.x(0)), cg = Conj(s.dy());
  s.Set(0, -2.0 * cg * s.x(1) * ca);
  s.Set(1, Op("ReciprocalGrad", {ca, s.dy()}));
}

// 0.5 b / conj(a)
void SqrtGradGradient(GradientScope& s) {
  const Value ga = s.dy() / s.x(0);
  s.Set(0, -Conj(ga) * s.y());
  s.Set(1, 0.5 * ga);
}

// -0.5 b conj(a)^3
void RsqrtGradGradient(GradientScope& s) {
  const Value ca = Conj(s.x(0)), cg = Conj(s.dy());
  s.Set(0, -1.5 * cg * s.x(1) * Square(ca));
  s.Set(1, Op("RsqrtGrad", {ca, s.dy()}));
}

// b (1 - a^2)
void TanhGradGradient(GradientScope& s) {
  const Value a = Conj(s.x(0));
  s.Set(0, -2.0 * s.dy() * Conj(s.x(1)) * a);
  s.Set(1, Op("TanhGrad", {a, s.dy()}));
}

// b a (1 - a)
void SigmoidGradGradient(GradientScope& s) {
  const Value a = Conj(s.x(0)), gb = s.dy() * Conj(s.x(1));
  s.Set(0, gb - 2.0 * gb * a);
  s.Set(1, Op("SigmoidGrad", {a, s.dy()}));
}

void SoftplusGradGradient(GradientScope& s) {
  const Value x = s.x(1);
  s.Set(0, Op("SoftplusGrad", {s.dy(), x}));
  s.Set(1, s.dy() * s.x(0) / (Op("Exp", {-x}) + 2.0 + Op("Exp", {x})));
}

// Below 0 the derivative of Elu and Selu depends on their value.
void EluGradGradient(GradientScope& s) {
  const Value y = s.x(1);
  s.Set(0, Op(s.op(), {s.dy(), y}));
  s.Set(1, Select(Compare("Less", y, Number(y, 0)), s.dy() * s.x(0), ZerosLike(y)));
}

// Piecewise linear: the second derivative is 0.
void ReluGradGradient(GradientScope& s) {
  s.Set(0, Op(s.op(), {s.dy(), s.x(1)}, s.AllAttrs()));
  s.Set(1, ZerosLike(s.x(1)));
}

// --- Two operands.

void AddGradient(GradientScope& s) { SetBoth(s, s.dy(), s.dy()); }
void SubGradient(GradientScope& s) { SetBoth(s, s.dy(), -s.dy()); }
void MulGradient(GradientScope& s) { SetBoth(s, s.dy() * Conj(s.x(1)), Conj(s.x(0)) * s.dy()); }

void MulNoNanGradient(GradientScope& s) {
  SetBoth(s, Op("MulNoNan", {s.dy(), s.x(1)}), Op("MulNoNan", {s.x(0), s.dy()}));
}

// For RealDiv, Div and DivNoNan, with the division of the op itself.
void DivGradient(GradientScope& s) {
  const Value x = Conj(s.x(0)), y = Conj(s.x(1));
  SetBoth(s, Op(s.op(), {s.dy(), y}), s.dy() * Op(s.op(), {Op(s.op(), {-x, y}), y}));
}

void FloorModGradient(GradientScope& s) {
  SetBoth(s, s.dy(), s.dy() * -Op("FloorDiv", {s.x(0), s.x(1)}));
}

// Where x is not positive, log(x) counts as 0: there the power has no derivative by the exponent.
void PowGradient(GradientScope& s) {
  const Value x = Conj(s.x(0)), y = Conj(s.x(1)), zero = Number(x, 0);
  const Value has_log = Compare(IsComplex(x.dtype()) ? "NotEqual" : "Greater", x, zero);
  const Value log = Select(has_log, Op("Log", {Select(has_log, x, OnesLike(x))}), ZerosLike(x));
  SetBoth(s, s.dy() * y * Op("Pow", {x, y - 1.0}), s.dy() * Conj(s.y()) * log);
}

// The first operand has the gradient where `chosen` holds of the operands, ties included.
template <const char* kChosen>
void MaximumGradient(GradientScope& s) {
  const Value first = Compare(kChosen, s.x(0), s.x(1)), zero = Number(s.dy(), 0);
  SetBoth(s, Select(first, s.dy(), zero), Select(first, zero, s.dy()));
}
constexpr char kGreaterEqual[] = "GreaterEqual", kLessEqual[] = "LessEqual";

void SquaredDifferenceGradient(GradientScope& s) {
  const Value dx = 2.0 * s.dy() * (s.x(0) - s.x(1));
  SetBoth(s, dx, -dx);
}

void Atan2Gradient(GradientScope& s) {
  const Value y = s.x(0), x = s.x(1), scaled = s.dy() / (Square(y) + Square(x));
  SetBoth(s, x * scaled, -y * scaled);
}

void ComplexGradient(GradientScope& s) {
  const NewAttrs type = {{"Tout", attr::Type(s.x(0).dtype())}};
  SetBoth(s, Op("Real", {s.dy()}, type), Op("Imag", {s.dy()}, type));
}

Value NotZero(Value x) { return Cast(Compare("NotEqual", x, Number(x, 0)), x.dtype()); }

void XlogyGradient(GradientScope& s) {
  const Value x = s.x(0), y = s.x(1);
  SetBoth(s, Op("Xlogy", {NotZero(x), y}) * s.dy(), Op("Xdivy", {x, y}) * s.dy());
}

void Xlog1pyGradient(GradientScope& s) {
  const Value x = s.x(0), y = s.x(1);
  SetBoth(s, Op("Xlog1py", {NotZero(x), y}) * s.dy(), Op("Xdivy", {x, y + 1.0}) * s.dy());
}

void XdivyGradient(GradientScope& s) {
  const Value x = s.x(0), y = s.x(1);
  SetBoth(s, Op("Xdivy", {NotZero(x), y}) * s.dy(), Op("Xdivy", {-x, Square(y)}) * s.dy());
}

void NextAfterGradient(GradientScope& s) { SetBoth(s, s.dy(), ZerosLike(s.dy())); }

// --- More operands.

// The old form does not broadcast, but a vector may choose whole rows.
void SelectGradient(GradientScope& s) {
  const Value zeros = ZerosLike(s.x(1));
  s.Set(1, Op("Select", {s.x(0), s.dy(), zeros}));
  s.Set(2, Op("Select", {s.x(0), zeros, s.dy()}));
}

void SelectV2Gradient(GradientScope& s) {
  const Value zero = Number(s.dy(), 0);
  s.Set(1, SumToShapeOf(Select(s.x(0), s.dy(), zero), s.x(1), s.y()));
  s.Set(2, SumToShapeOf(Select(s.x(0), zero, s.dy()), s.x(2), s.y()));
}

// What is cut off flows to the bound. NaN is not cut off.
void ClipByValueGradient(GradientScope& s) {
  const Value x = s.x(0), zero = Number(x, 0);
  const Value below = Compare("Less", x, s.x(1)), above = Compare("Greater", x, s.x(2));
  s.Set(0, Select(Op("LogicalOr", {below, above}), zero, s.dy()));
  s.Set(1, SumToShapeOf(Select(below, s.dy(), zero), s.x(1), x));
  s.Set(2, SumToShapeOf(Select(above, s.dy(), zero), s.x(2), x));
}

using S = GradientScope;
constexpr double kPi = std::numbers::pi, kTwoOverRootPi = 2 * std::numbers::inv_sqrtpi;

constexpr GradientRow kElementwise[] = {
    {"Abs", Unary<[](S& s) { return s.dy() * Op("Sign", {s.x()}); }>},
    {"Acos", Unary<[](S& s) { return -OfAsin(s); }>},
    {"Acosh", Unary<[](S& s) { return s.dy() / Op("Sinh", {Conj(s.y())}); }>},
    {"Add", AddGradient},
    {"AddV2", AddGradient},
    {"Angle", Unary<OfAngle>},
    {"ApproximateEqual", nullptr},
    {"Asin", Unary<OfAsin>},
    {"Asinh", Unary<[](S& s) { return s.dy() / Op("Cosh", {Conj(s.y())}); }>},
    {"Atan", Unary<OfAtan>},
    {"Atan2", Atan2Gradient},
    {"Atanh", Unary<OfAtanh>},
    {"BitwiseAnd", nullptr},
    {"BitwiseOr", nullptr},
    {"BitwiseXor", nullptr},
    {"Cast", CastGradient},
    {"Ceil", nullptr},
    {"CheckNumerics", Unary<OfCheckNumerics>},
    {"CheckNumericsV2", Unary<OfCheckNumerics>},
    {"ClipByValue", ClipByValueGradient},
    {"Complex", ComplexGradient},
    {"ComplexAbs", Unary<OfComplexAbs>},
    {"Conj", Unary<[](S& s) { return Conj(s.dy()); }>},
    {"Cos", Unary<[](S& s) { return -s.dy() * Op("Sin", {Conj(s.x())}); }>},
    {"Cosh", Unary<[](S& s) { return s.dy() * Op("Sinh", {Conj(s.x())}); }>},
    {"Div", DivGradient},
    {"DivNoNan", DivGradient},
    {"Elu", Unary<[](S& s) {
       return Op("EluGrad", {s.dy(), s.y()});
     }>},
    {"EluGrad", EluGradGradient},
    {"Equal", nullptr},
    {"Erf", Unary<[](S& s) { return GaussTimes(s, kTwoOverRootPi); }>},
    {"Erfc", Unary<[](S& s) { return GaussTimes(s, -kTwoOverRootPi); }>},
    {"Exp", Unary<[](S& s) { return s.dy() * Conj(s.y()); }>},
    {"Expm1", Unary<[](S& s) { return s.dy() * Op("Exp", {Conj(s.x())}); }>},
    {"Floor", nullptr},
    {"FloorDiv", nullptr},
    {"FloorMod", FloorModGradient},
    {"Greater", nullptr},
    {"GreaterEqual", nullptr},
    {"Imag", Unary<[](S& s) {
       return Op("Complex", {Number(s.dy(), 0), s.dy()}, {{"Tout", attr::Type(s.x().dtype())}});
     }>},
    {"Inv", Unary<[](S& s) {
       return Op("ReciprocalGrad", {s.y(), s.dy()});
     }>},
    {"InvGrad", ReciprocalGradGradient},
    {"Invert", nullptr},
    {"LeakyRelu", Unary<[](S& s) {
       return Op("LeakyReluGrad", {s.dy(), s.x()}, s.Attrs({"alpha"}));
     }>},
    {"LeakyReluGrad", ReluGradGradient},
    {"LeftShift", nullptr},
    {"Less", nullptr},
    {"LessEqual", nullptr},
    {"Log", Unary<[](S& s) { return s.dy() * Op("Reciprocal", {Conj(s.x())}); }>},
    {"Log1p",
     Unary<[](S& s) { return s.dy() * Op("Reciprocal", {Number(s.x(), 1) + Conj(s.x())}); }>},
    {"LogicalAnd", nullptr},
    {"LogicalNot", nullptr},
    {"LogicalOr", nullptr},
    {"Maximum", MaximumGradient<kGreaterEqual>},
    {"Minimum", MaximumGradient<kLessEqual>},
    {"Mul", MulGradient},
    {"MulNoNan", MulNoNanGradient},
    {"Neg", Unary<[](S& s) { return -s.dy(); }>},
    {"NextAfter", NextAfterGradient},
    {"NotEqual", nullptr},
    {"PopulationCount", nullptr},
    {"Pow", PowGradient},
    {"Real", Unary<[](S& s) {
       return Op("Complex", {s.dy(), Number(s.dy(), 0)}, {{"Tout", attr::Type(s.x().dtype())}});
     }>},
    {"RealDiv", DivGradient},
    {"Reciprocal", Unary<[](S& s) {
       return Op("ReciprocalGrad", {s.y(), s.dy()});
     }>},
    {"ReciprocalGrad", ReciprocalGradGradient},
    {"Relu", Unary<[](S& s) {
       return Op("ReluGrad", {s.dy(), s.y()});
     }>},
    {"Relu6", Unary<[](S& s) {
       return Op("Relu6Grad", {s.dy(), s.y()});
     }>},
    {"Relu6Grad", ReluGradGradient},
    {"ReluGrad", ReluGradGradient},
    {"RightShift", nullptr},
    {"Rint", nullptr},
    {"Round", nullptr},
    {"Rsqrt", Unary<[](S& s) {
       return Op("RsqrtGrad", {s.y(), s.dy()});
     }>},
    {"RsqrtGrad", RsqrtGradGradient},
    {"Select", SelectGradient},
    {"SelectV2", SelectV2Gradient},
    {"Selu", Unary<[](S& s) {
       return Op("SeluGrad", {s.dy(), s.y()});
     }>},
    {"SeluGrad", EluGradGradient},
    {"Sigmoid", Unary<[](S& s) {
       return Op("SigmoidGrad", {Conj(s.y()), s.dy()});
     }>},
    {"SigmoidGrad", SigmoidGradGradient},
    {"Sign", Unary<[](S& s) { return ZerosLike(s.x()); }>},
    {"Sin", Unary<[](S& s) { return s.dy() * Op("Cos", {Conj(s.x())}); }>},
    {"Sinh", Unary<[](S& s) { return s.dy() * Op("Cosh", {Conj(s.x())}); }>},
    {"Softplus", Unary<[](S& s) { return s.dy() * Op("Sigmoid", {s.x()}); }>},
    {"SoftplusGrad", SoftplusGradGradient},
    {"Softsign", Unary<[](S& s) {
       return Op("SoftsignGrad", {s.dy(), s.x()});
     }>},
    {"Sqrt", Unary<[](S& s) {
       return Op("SqrtGrad", {s.y(), s.dy()});
     }>},
    {"SqrtGrad", SqrtGradGradient},
    {"Square", Unary<[](S& s) { return s.dy() * (2.0 * Conj(s.x())); }>},
    {"SquaredDifference", SquaredDifferenceGradient},
    {"Sub", SubGradient},
    {"Tan", Unary<OfTan>},
    {"Tanh", Unary<[](S& s) {
       return Op("TanhGrad", {Conj(s.y()), s.dy()});
     }>},
    {"TanhGrad", TanhGradGradient},
    {"TruncateDiv", nullptr},
    {"Xdivy", XdivyGradient},
    {"Xlog1py", Xlog1pyGradient},
    {"Xlogy", XlogyGradient},
};

}  // namespace

absl::Span<const GradientRow> Elementwise() { return kElementwise; }

}  // namespace tenon::gradients
