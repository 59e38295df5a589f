// Exponential, logarithm and square root of matrices, in complex double precision for all types: a
// real matrix may have complex eigenvalues.
#include "plugin/cpu/linalg/decompositions/matrix_functions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "plugin/cpu/linalg/decompositions/eigen_maps.inc"

namespace tenon::cpu {
namespace {

using Complex = std::complex<double>;
using ComplexMatrix = Eigen::MatrixXcd;
using Schur = Eigen::ComplexSchur<ComplexMatrix>;

ComplexMatrix NotANumber(const ComplexMatrix& a) {
  return ComplexMatrix::Constant(a.rows(), a.cols(),
                                 Complex(std::numeric_limits<double>::quiet_NaN()));
}

// The 1-norm: the greatest column sum of absolute values.
double Norm(const ComplexMatrix& a) { return a.cwiseAbs().colwise().sum().maxCoeff(); }

// What stands in the Schur form, back in the coordinates of the matrix.
ComplexMatrix FromSchur(const Schur& schur, const ComplexMatrix& t) {
  const ComplexMatrix left = schur.matrixU() * t;
  return left * schur.matrixU().adjoint();
}

// Scaling and squaring of the Padé approximant p(a) / p(-a) of degree 13, which is exact to
// double's precision for norms up to 5.37: Higham, "The scaling and squaring method for the matrix
// exponential revisited", 2005. b are the coefficients of p.
ComplexMatrix Exponential(const ComplexMatrix& in) {
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
  // The number of halvings that bring the norm below the bound.
  std::frexp(norm / 5.371920351148152, &squarings);
  squarings = std::max(squarings, 0);
  const ComplexMatrix a = in * std::ldexp(1.0, -squarings);
  const ComplexMatrix one = ComplexMatrix::Identity(a.rows(), a.cols());
  // p(a) = even + odd and p(-a) = even - odd. Three powers and three more products give both
  // (Higham's scheme).
  const ComplexMatrix a2 = a * a, a4 = a2 * a2, a6 = a4 * a2;
  ComplexMatrix odd = b[13] * a6 + b[11] * a4 + b[9] * a2;
  ComplexMatrix even = b[12] * a6 + b[10] * a4 + b[8] * a2;
  odd = a6 * odd;
  odd += b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one;
  odd = a * odd;
  even = a6 * even;
  even += b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one;
  ComplexMatrix result = (even - odd).partialPivLu().solve(even + odd);
  for (int i = 0; i < squarings; ++i) result = result * result;
  return result;
}

// The root of an upper triangle, column by column (Björck and Hammarling).
ComplexMatrix TriangleRoot(const ComplexMatrix& t) {
  ComplexMatrix root = ComplexMatrix::Zero(t.rows(), t.cols());
  for (Eigen::Index j = 0; j < t.cols(); ++j) {
    root(j, j) = std::sqrt(t(j, j));
    for (Eigen::Index i = j; i-- > 0;) {
      Complex rest = t(i, j);
      for (Eigen::Index k = i + 1; k < j; ++k) rest -= root(i, k) * root(k, j);
      // 0 / 0 where two eigenvalues of 0 meet: the element is 0 there.
      root(i, j) = rest == 0.0 ? rest : rest / (root(i, i) + root(j, j));
    }
  }
  return root;
}

// A real matrix with a negative eigenvalue has no real root: NaN, as in TensorFlow. The matrix is
// scaled by a power of 4, so that nothing overflows on the way.
ComplexMatrix SquareRoot(const ComplexMatrix& in, bool real) {
  if (!in.allFinite()) return NotANumber(in);
  int exponent = 0;
  std::frexp(in.cwiseAbs().maxCoeff(), &exponent);
  exponent /= 2;
  const Schur schur(in * std::ldexp(1.0, -2 * exponent));
  if (schur.info() != Eigen::Success) return NotANumber(in);
  const ComplexMatrix& t = schur.matrixT();
  // The errors that the Schur form leaves in eigenvalues of a matrix of this norm.
  const double noise = static_cast<double>(t.rows()) * std::numeric_limits<double>::epsilon();
  for (const Complex eigenvalue : t.diagonal()) {
    if (real && eigenvalue.real() < -noise && std::abs(eigenvalue.imag()) <= noise)
      return NotANumber(in);
  }
  return ComplexMatrix(FromSchur(schur, TriangleRoot(t)) * std::ldexp(1.0, exponent));
}

// log(I + x) of an upper triangle x with a norm below 0.26 by its Padé approximant of degree 7: the
// sum of w x / (I + n x) over the nodes n and weights w of Gauss-Legendre quadrature on [0, 1].
ComplexMatrix LogarithmNearOne(const ComplexMatrix& x) {
  constexpr double kNodes[] = {
      0.0254460438286207377, 0.1292344072003027800, 0.2970774243113014165, 0.5,
      0.7029225756886985834, 0.8707655927996972199, 0.9745539561713792622};
  constexpr double kWeights[] = {
      0.0647424830844348466, 0.1398526957446383339, 0.1909150252525594724, 0.2089795918367346938,
      0.1909150252525594724, 0.1398526957446383339, 0.0647424830844348466};
  const ComplexMatrix one = ComplexMatrix::Identity(x.rows(), x.cols());
  ComplexMatrix sum = ComplexMatrix::Zero(x.rows(), x.cols());
  for (int i = 0; i < 7; ++i) {
    const ComplexMatrix divisor = one + kNodes[i] * x;
    ComplexMatrix term = kWeights[i] * x;
    divisor.triangularView<Eigen::Upper>().solveInPlace(term);
    sum += term;
  }
  return sum;
}

// Inverse scaling and squaring: roots of the Schur form until it is close to one, where the Padé
// approximant is exact to double's precision. log(t) = 2^n log(t^(1/2^n)). A singular
// matrix has none.
std::optional<ComplexMatrix> Logarithm(const ComplexMatrix& in) {
  constexpr double kNear = 0.26;
  // A dozen roots bring any double that close to 1; what grows without end stays away.
  constexpr int kMostRoots = 100;
  if (!in.allFinite()) return NotANumber(in);
  const Schur schur(in);
  if (schur.info() != Eigen::Success) return NotANumber(in);
  ComplexMatrix t = schur.matrixT().triangularView<Eigen::Upper>();
  if (t.diagonal().cwiseAbs().minCoeff() == 0) return std::nullopt;
  const ComplexMatrix one = ComplexMatrix::Identity(t.rows(), t.cols());
  int roots = 0;
  while (!(Norm(t - one) < kNear)) {
    if (++roots > kMostRoots) return NotANumber(in);
    t = TriangleRoot(t);
  }
  return FromSchur(schur, LogarithmNearOne(t - one) * std::ldexp(1.0, roots));
}

template <typename T>
ComplexMatrix Widened(MatrixRef<const T> a) {
  return Map(a).template cast<Complex>();
}

template <typename T>
void Put(const ComplexMatrix& computed, MatrixRef<T> result) {
  if constexpr (Eigen::NumTraits<T>::IsComplex) {
    Map(result) = computed.cast<T>();
  } else {
    Map(result) = computed.real().cast<T>();
  }
}

}  // namespace

template <typename T>
void MatrixExponential(MatrixRef<const T> a, MatrixRef<T> result) {
  Put(Exponential(Widened(a)), result);
}

template <typename T>
bool MatrixLogarithm(MatrixRef<const T> a, MatrixRef<T> result) {
  const std::optional<ComplexMatrix> logarithm = Logarithm(Widened(a));
  if (logarithm) Put(*logarithm, result);
  return logarithm.has_value();
}

template <typename T>
void MatrixSquareRoot(MatrixRef<const T> a, MatrixRef<T> result) {
  Put(SquareRoot(Widened(a), !Eigen::NumTraits<T>::IsComplex), result);
}

#define TENON_INSTANTIATE(T)                                         \
  template void MatrixExponential(MatrixRef<const T>, MatrixRef<T>); \
  template bool MatrixLogarithm(MatrixRef<const T>, MatrixRef<T>);   \
  template void MatrixSquareRoot(MatrixRef<const T>, MatrixRef<T>);
TENON_FOR_MATRIX_TYPES(TENON_INSTANTIATE)
#undef TENON_INSTANTIATE

}  // namespace tenon::cpu
