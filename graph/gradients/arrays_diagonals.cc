// Matrices and their diagonals.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// The rules of the ops with V2 add ops with V3, as TensorFlow's do. There several diagonals are
// aligned otherwise (RIGHT_LEFT) than in V2 (LEFT_LEFT), unless they all have one length.
NewAttrs AlignOf(GradientScope& s) {
  return s.op().ends_with("V3") ? s.Attrs({"align"}) : NewAttrs();
}

Value OfMatrixDiag(GradientScope& s) { return Op("MatrixDiagPart", {s.dy()}); }

Value OfMatrixDiagV3(GradientScope& s) {
  return Op("MatrixDiagPartV3", {s.dy(), s.x(1), Number(s.dy(), 0)}, AlignOf(s));
}

Value OfMatrixDiagPart(GradientScope& s) { return Op("MatrixSetDiag", {ZerosLike(s.x()), s.dy()}); }

Value OfMatrixDiagPartV3(GradientScope& s) {
  return Op("MatrixSetDiagV3", {ZerosLike(s.x(0)), s.dy(), s.x(1)}, AlignOf(s));
}

void MatrixSetDiagGradient(GradientScope& s) {
  s.Set(0, Op("MatrixSetDiag", {s.dy(), ZerosLike(s.x(1))}));
  s.Set(1, Op("MatrixDiagPart", {s.dy()}));
}

void MatrixSetDiagV3Gradient(GradientScope& s) {
  s.Set(0, Op("MatrixSetDiagV3", {s.dy(), ZerosLike(s.x(1)), s.x(2)}, AlignOf(s)));
  s.Set(1, Op("MatrixDiagPartV3", {s.dy(), s.x(2), Number(s.dy(), 0)}, AlignOf(s)));
}

Value OfMatrixBandPart(GradientScope& s) { return Op("MatrixBandPart", {s.dy(), s.x(1), s.x(2)}); }

constexpr GradientRow kDiagonals[] = {
    {"Diag", Unary<[](GradientScope& s) { return Op("DiagPart", {s.dy()}); }>},
    {"DiagPart", Unary<[](GradientScope& s) { return Op("Diag", {s.dy()}); }>},
    {"MatrixBandPart", Unary<OfMatrixBandPart>},
    {"MatrixDiag", Unary<OfMatrixDiag>},
    {"MatrixDiagPart", Unary<OfMatrixDiagPart>},
    {"MatrixDiagPartV2", Unary<OfMatrixDiagPartV3>},
    {"MatrixDiagPartV3", Unary<OfMatrixDiagPartV3>},
    {"MatrixDiagV2", Unary<OfMatrixDiagV3>},
    {"MatrixDiagV3", Unary<OfMatrixDiagV3>},
    {"MatrixSetDiag", MatrixSetDiagGradient},
    {"MatrixSetDiagV2", MatrixSetDiagV3Gradient},
    {"MatrixSetDiagV3", MatrixSetDiagV3Gradient},
};

}  // namespace

absl::Span<const GradientRow> ArraysDiagonals() { return kDiagonals; }

}  // namespace tenon::gradients
