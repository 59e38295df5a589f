// Exponential, logarithm and square root of matrices, computed in complex<double>: of a real matrix
// the real part is the answer.
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/eigen_maps.inc"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

using Complex = std::complex<double>;
using Matrix = Eigen::MatrixXcd;
using Schur = Eigen::ComplexSchur<Matrix>;

Matrix NotANumber(const Matrix& a) {
  return Matrix::Constant(a.rows(), a.cols(), Complex(std::numeric_limits<double>::quiet_NaN()));
}

double Norm(const Matrix& a) { return a.cwiseAbs().colwise().sum().maxCoeff(); }

// What stands in the Schur form, back in the coordinates of the matrix.
Matrix FromSchur(const Schur& schur, const Matrix& t) {
  const Matrix left = schur.matrixU() * t;
  return left * schur.matrixU().adjoint();
}

// Scaling and squaring of the Padé approximant p(a) / p(-a) of degree 13, which is exact to
// double's precision for norms up to 5.37: Higham, "The scaling and squaring method for the matrix
// exponential revisited", 2005. b are the coefficients of p.
absl::StatusOr<Matrix> Exponential(const Matrix& in, bool) {
  constexpr double b[] = {64764752532480000.,
                          32382376266240000.,
                          7771770303897600.,
                          1187353796428800.,
                          129060195264000.,
                          10559470521600.,
                          670442572800.,
                          33522128640.,
                          1323241920.,
                          40840800.,
                          960960.,
                          16380.,
                          182.,
                          1.};
  const double norm = Norm(in);
  if (!std::isfinite(norm)) return NotANumber(in);
  int squarings = 0;
  std::frexp(norm / 5.371920351148152, &squarings);
  squarings = std::max(squarings, 0);
  const Matrix a = in * std::ldexp(1.0, -squarings);
  const Matrix one = Matrix::Identity(a.rows(), a.cols());
  const Matrix a2 = a * a, a4 = a2 * a2, a6 = a4 * a2;
  Matrix odd = b[13] * a6 + b[11] * a4 + b[9] * a2;
  Matrix even = b[12] * a6 + b[10] * a4 + b[8] * a2;
  odd = a6 * odd;
  odd += b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one;
  odd = a * odd;
  even = a6 * even;
  even += b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one;
  Matrix result = (even - odd).partialPivLu().solve(even + odd);
  for (int i = 0; i < squarings; ++i) result = result * result;
  return result;
}

// The root of an upper triangle, column by column (Björck and Hammarling).
Matrix TriangleRoot(const Matrix& t) {
  Matrix root = Matrix::Zero(t.rows(), t.cols());
  for (Eigen::Index j = 0; j < t.cols(); ++j) {
    root(j, j) = std::sqrt(t(j, j));
    for (Eigen::Index i = j; i-- > 0;) {
      Complex rest = t(i, j);
      for (Eigen::Index k = i + 1; k < j; ++k) rest -= root(i, k) * root(k, j);
      root(i, j) = rest == 0.0 ? rest : rest / (root(i, i) + root(j, j));
    }
  }
  return root;
}

// A real matrix with a negative eigenvalue has no real root: NaN, as in TensorFlow. The matrix is
// scaled by a power of 4, so that nothing overflows on the way.
absl::StatusOr<Matrix> SquareRoot(const Matrix& in, bool real) {
  if (!in.allFinite()) return NotANumber(in);
  int exponent = 0;
  std::frexp(in.cwiseAbs().maxCoeff(), &exponent);
  exponent /= 2;
  const Schur schur(in * std::ldexp(1.0, -2 * exponent));
  if (schur.info() != Eigen::Success) return NotANumber(in);
  const Matrix& t = schur.matrixT();
  // The errors that the Schur form leaves in eigenvalues of a matrix of this norm.
  const double noise = static_cast<double>(t.rows()) * std::numeric_limits<double>::epsilon();
  for (const Complex eigenvalue : t.diagonal()) {
    if (real && eigenvalue.real() < -noise && std::abs(eigenvalue.imag()) <= noise)
      return NotANumber(in);
  }
  return Matrix(FromSchur(schur, TriangleRoot(t)) * std::ldexp(1.0, exponent));
}

// log(I + x) of an upper triangle x with a norm below 0.26 by its Padé approximant of degree 7: the
// sum of w x / (I + n x) over the nodes n and weights w of Gauss-Legendre quadrature on [0, 1].
Matrix LogarithmNearOne(const Matrix& x) {
  constexpr double kNodes[] = {
      0.0254460438286207377, 0.1292344072003027800, 0.2970774243113014165, 0.5,
      0.7029225756886985834, 0.8707655927996972199, 0.9745539561713792622};
  constexpr double kWeights[] = {
      0.0647424830844348466, 0.1398526957446383339, 0.1909150252525594724, 0.2089795918367346938,
      0.1909150252525594724, 0.1398526957446383339, 0.0647424830844348466};
  const Matrix one = Matrix::Identity(x.rows(), x.cols());
  Matrix sum = Matrix::Zero(x.rows(), x.cols());
  for (int i = 0; i < 7; ++i) {
    const Matrix divisor = one + kNodes[i] * x;
    Matrix term = kWeights[i] * x;
    divisor.triangularView<Eigen::Upper>().solveInPlace(term);
    sum += term;
  }
  return sum;
}

// Inverse scaling and squaring: roots of the Schur form until it is close to one, where the Padé
// approximant is exact to double's precision. log(t) = 2^n log(t^(1/2^n)).
absl::StatusOr<Matrix> Logarithm(const Matrix& in, bool) {
  constexpr double kNear = 0.26;
  // A dozen roots bring any double that close to 1; what grows without end stays away.
  constexpr int kMostRoots = 100;
  if (!in.allFinite()) return NotANumber(in);
  const Schur schur(in);
  if (schur.info() != Eigen::Success) return NotANumber(in);
  Matrix t = schur.matrixT().triangularView<Eigen::Upper>();
  if (t.diagonal().cwiseAbs().minCoeff() == 0)
    return absl::InvalidArgumentError("Input matrix is not invertible: it has no logarithm.");
  const Matrix one = Matrix::Identity(t.rows(), t.cols());
  int roots = 0;
  while (!(Norm(t - one) < kNear)) {
    if (++roots > kMostRoots) return NotANumber(in);
    t = TriangleRoot(t);
  }
  return FromSchur(schur, LogarithmNearOne(t - one) * std::ldexp(1.0, roots));
}

// A function of a matrix, of which the flag says whether it is real.
using Function = absl::StatusOr<Matrix> (*)(const Matrix&, bool real);

template <typename T>
absl::Status Apply(Function function, const MatrixArgs& m) {
  constexpr bool kReal = !Eigen::NumTraits<T>::IsComplex;
  const Matrix in = m.In<In<T>>(0).template cast<Complex>();
  TENON_ASSIGN_OR_RETURN(const Matrix result, function(in, kReal));
  auto out = m.Out<Out<T>>(0);
  if constexpr (kReal) {
    out = result.real().cast<T>();
  } else {
    out = result.cast<T>();
  }
  return absl::OkStatus();
}

template <Function kFunction>
absl::Status PrepareFunction(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  TENON_RETURN_IF_ERROR(step.RequireSquare(0));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute([](const MatrixArgs& m) { return Apply<decltype(zero)>(kFunction, m); });
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> MatrixFunctionKernels() {
  static const CpuKernelSpec specs[] = {
      {"MatrixExponential", {{"T", kMatrixTypes}}, PrepareFunction<Exponential>},
      {"MatrixLogarithm", {{"T", kComplexTypes}}, PrepareFunction<Logarithm>},
      {"MatrixSquareRoot", {{"T", kMatrixTypes}}, PrepareFunction<SquareRoot>},
  };
  return specs;
}

}  // namespace tenon::cpu
