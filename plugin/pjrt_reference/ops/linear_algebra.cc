// cholesky and triangular_solve, in double or complex<double>.
#include <cmath>
#include <complex>
#include <limits>

#include "checks.h"
#include "elementwise.h"
#include "families.h"

namespace pjref {
namespace {

void CheckSquare(const Op& op, const Type& type) {
  CheckKind(op, type, kFloats | kComplexes);
  CheckThat(op, type.rank() >= 2 && type.dims[type.rank() - 1] == type.dims[type.rank() - 2],
            "expects square matrices, but found '" + ToString(type) + "'");
}

void CheckCholesky(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckSquare(op, op.operand_types[0]);
  CheckResult(op, 0, op.operand_types[0]);
}

template <typename T>
auto Conjugate(T value) {
  if constexpr (kIsComplex<T>) {
    return std::conj(value);
  } else {
    return value;
  }
}

// The lower factor of `a`, of which the lower triangle is read; all NaN if `a` is not positive
// definite.
template <typename T>
void Factor(int64_t n, const T* a, T* l) {
  for (int64_t j = 0; j < n; ++j) {
    T sum = a[j * n + j];
    for (int64_t k = 0; k < j; ++k) sum -= l[j * n + k] * Conjugate(l[j * n + k]);
    const double pivot = std::real(sum);
    if (!(pivot > 0)) {
      std::fill_n(l, n * n, T(std::numeric_limits<double>::quiet_NaN()));
      return;
    }
    l[j * n + j] = T(std::sqrt(pivot));
    for (int64_t i = j + 1; i < n; ++i) {
      T value = a[i * n + j];
      for (int64_t k = 0; k < j; ++k) value -= l[i * n + k] * Conjugate(l[j * n + k]);
      l[i * n + j] = value / l[j * n + j];
    }
  }
}

// The conjugate transpose of each matrix.
template <typename T>
void Flip(int64_t n, T* a) {
  for (int64_t i = 0; i < n; ++i) {
    a[i * n + i] = Conjugate(a[i * n + i]);
    for (int64_t j = 0; j < i; ++j) {
      const T held = a[i * n + j];
      a[i * n + j] = Conjugate(a[j * n + i]);
      a[j * n + i] = Conjugate(held);
    }
  }
}

template <typename T>
void CholeskyOf(Frame* frame, const Op& op) {
  const Type& type = op.operand_types[0];
  std::vector<T> a = LoadAll<T>(frame->In(op, 0));
  std::vector<T> l(a.size(), T(0));
  const int64_t n = type.dims.back();
  const int64_t matrices = n == 0 ? 0 : type.count() / (n * n);
  const bool lower = op.Flag("lower");
  for (int64_t i = 0; i < matrices; ++i) {
    if (!lower) Flip(n, a.data() + i * n * n);
    Factor(n, a.data() + i * n * n, l.data() + i * n * n);
    if (!lower) Flip(n, l.data() + i * n * n);
  }
  Array out(op.result_types[0]);
  Store(l.data(), 0, out.count(), out);
  frame->Out(op, std::move(out));
}

void Cholesky(Frame* frame, const Op& op) {
  if (IsComplex(op.operand_types[0].element)) return CholeskyOf<std::complex<double>>(frame, op);
  CholeskyOf<double>(frame, op);
}

void CheckSolve(const Op& op) {
  CheckCounts(op, 2, 1);
  const Type& a = op.operand_types[0];
  const Type& b = op.operand_types[1];
  CheckSquare(op, a);
  CheckThat(op, a.element == b.element && a.rank() == b.rank(),
            "requires operands of one element type and rank");
  const bool left = op.Flag("left_side");
  for (int64_t i = 0; i + 2 < a.rank(); ++i)
    CheckThat(op, a.dims[i] == b.dims[i], "batch dimensions differ");
  CheckThat(op, b.dims[b.rank() - (left ? 2 : 1)] == a.dims.back(),
            "sizes of the matrices do not fit");
  const std::string form = op.Word("transpose_a");
  CheckThat(op, form.empty() || form == "NO_TRANSPOSE" || form == "TRANSPOSE" || form == "ADJOINT",
            "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  CheckResult(op, 0, b);
}

// Solves m x = b for each column, in place. `m` is an accessor of a triangular matrix.
template <typename T, typename Matrix>
void Substitute(int64_t n, bool lower, bool unit, const Matrix& m, T* b, int64_t step) {
  for (int64_t r = 0; r < n; ++r) {
    const int64_t i = lower ? r : n - 1 - r;
    T sum = b[i * step];
    for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j) sum -= m(i, j) * b[j * step];
    b[i * step] = unit ? sum : sum / m(i, i);
  }
}

template <typename T>
void SolveOf(Frame* frame, const Op& op) {
  const Type& type = op.operand_types[1];
  const std::vector<T> a = LoadAll<T>(frame->In(op, 0));
  std::vector<T> x = LoadAll<T>(frame->In(op, 1));
  const int64_t n = op.operand_types[0].dims.back();
  const int64_t rows = type.dims[type.rank() - 2], columns = type.dims.back();
  const int64_t matrices = n == 0 || rows * columns == 0 ? 0 : type.count() / (rows * columns);
  const bool left = op.Flag("left_side"), lower = op.Flag("lower"), unit = op.Flag("unit_diagonal");
  const std::string form = op.Word("transpose_a");
  const bool turned = form == "TRANSPOSE" || form == "ADJOINT", conjugated = form == "ADJOINT";
  // x m = b is the same as transpose(m) transpose(x) = transpose(b).
  const bool flips = turned == left;
  for (int64_t k = 0; k < matrices; ++k) {
    const T* matrix = a.data() + k * n * n;
    const auto at = [&](int64_t i, int64_t j) {
      const T value = flips ? matrix[j * n + i] : matrix[i * n + j];
      return conjugated ? Conjugate(value) : value;
    };
    T* values = x.data() + k * rows * columns;
    const int64_t systems = left ? columns : rows;
    for (int64_t s = 0; s < systems; ++s) {
      Substitute(n, lower != flips, unit, at, values + (left ? s : s * columns),
                 left ? columns : 1);
    }
  }
  Array out(op.result_types[0]);
  Store(x.data(), 0, out.count(), out);
  frame->Out(op, std::move(out));
}

void Solve(Frame* frame, const Op& op) {
  if (IsComplex(op.operand_types[0].element)) return SolveOf<std::complex<double>>(frame, op);
  SolveOf<double>(frame, op);
}

}  // namespace

const std::vector<OpRow>& LinearAlgebraRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.cholesky", &CheckCholesky, &Cholesky, nullptr},
      {"stablehlo.triangular_solve", &CheckSolve, &Solve, nullptr},
  };
  return kRows;
}

}  // namespace pjref
