// TridiagonalSolve: systems of equations whose matrix has three diagonals.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum class Method {
  kThomas,        // the Thomas algorithm: no pivots
  kPivots,        // rows may be exchanged
  kPerturbPivots  // and pivots too small to divide by are moved away from 0
};

// One system: its diagonals, right-hand sides, and the place for the solutions. In the first two
// methods a pivot of 0 makes every solution NaN, as in TensorFlow.
template <typename T>
class System {
 public:
  explicit System(const MatrixArgs& m) : rhs_(m.In<T>(1)), x_(m.Out<T>(0)), n_(rhs_.rows) {
    const auto diagonals = m.In<T>(0);
    above_ = diagonals.row(0);
    diagonal_ = diagonals.row(1);
    below_ = diagonals.row(2);
  }

  void Solve(Method method) {
    bool solved = true;
    if (method == Method::kThomas) {
      solved = SolveThomas();
    } else if (method == Method::kPivots) {
      Eliminate(&System::LargerPivot);
      solved = Substitute();
    } else {
      Eliminate(&System::LargerScaledPivot);
      SubstitutePerturbed();
    }
    if (!solved)
      std::fill_n(x_.data, x_.rows * x_.columns, T(std::numeric_limits<Real>::quiet_NaN()));
  }

 private:
  using Real = decltype(std::abs(T()));

  // A row of the upper triangle that elimination leaves: its diagonal and two elements right of it.
  struct Row {
    T pivot{}, next{}, second{};
  };

  // Row i becomes x[i] + next[i] * x[i + 1] = sum / pivot; then substitution from the last row up.
  bool SolveThomas() {
    std::vector<T> next(n_);
    for (int64_t i = 0; i < n_; ++i) {
      T pivot = diagonal_[i];
      if (i > 0) pivot -= below_[i] * next[i - 1];
      if (pivot == T(0)) return false;
      next[i] = above_[i] / pivot;
      for (int64_t c = 0; c < x_.columns; ++c) {
        T sum = rhs_(i, c);
        if (i > 0) sum -= below_[i] * x_(i - 1, c);
        x_(i, c) = sum / pivot;
      }
    }
    for (int64_t i = n_ - 1; i-- > 0;) {
      for (int64_t c = 0; c < x_.columns; ++c) x_(i, c) -= next[i] * x_(i + 1, c);
    }
    return true;
  }

  // Whether row k, as eliminated so far, has the better pivot than row k + 1.
  using Choice = bool (System::*)(int64_t k) const;
  bool LargerPivot(int64_t k) const { return std::abs(u_[k].pivot) >= std::abs(below_[k + 1]); }
  // In relation to the size of its row.
  bool LargerScaledPivot(int64_t k) const {
    if (below_[k + 1] == T(0)) return true;
    if (u_[k].pivot == T(0)) return false;
    Real lower_size = std::abs(below_[k + 1]) + std::abs(diagonal_[k + 1]);
    if (k + 2 < n_) lower_size += std::abs(above_[k + 1]);
    const Real upper_size = std::abs(u_[k].pivot) + std::abs(u_[k].next);
    return std::abs(below_[k + 1]) / lower_size <= std::abs(u_[k].pivot) / upper_size;
  }

  // The element right of the diagonal; the last row has none, whatever is stored.
  T Above(int64_t i) const { return i + 1 < n_ ? above_[i] : T(0); }

  // Row after row: makes u_ and applies the same to the right-hand sides, in x_.
  void Eliminate(Choice keeps_row) {
    u_.resize(n_);
    u_[0] = {diagonal_[0], Above(0), T(0)};
    std::copy_n(rhs_.row(0), x_.columns, x_.row(0));
    for (int64_t k = 0; k + 1 < n_; ++k) {
      Row& row = u_[k];
      if ((this->*keeps_row)(k)) {
        // Nothing to eliminate: a pivot of 0 does not matter yet, and 0 / 0 would be NaN.
        const T factor = below_[k + 1] == T(0) ? T(0) : below_[k + 1] / row.pivot;
        u_[k + 1] = {diagonal_[k + 1] - factor * row.next, Above(k + 1), T(0)};
        for (int64_t c = 0; c < x_.columns; ++c) x_(k + 1, c) = rhs_(k + 1, c) - factor * x_(k, c);
      } else {
        const T factor = row.pivot / below_[k + 1];
        // The rows are exchanged, which fills the second element right of the diagonal.
        u_[k + 1] = {row.next - factor * diagonal_[k + 1], -factor * Above(k + 1), T(0)};
        row = {below_[k + 1], diagonal_[k + 1], Above(k + 1)};
        for (int64_t c = 0; c < x_.columns; ++c) {
          x_(k + 1, c) = x_(k, c) - factor * rhs_(k + 1, c);
          x_(k, c) = rhs_(k + 1, c);
        }
      }
    }
  }

  // Takes what is known of the unknowns below out of row i.
  void TakeOutKnown(int64_t i) {
    for (int64_t c = 0; c < x_.columns; ++c) {
      if (i + 1 < n_) x_(i, c) -= u_[i].next * x_(i + 1, c);
      if (i + 2 < n_) x_(i, c) -= u_[i].second * x_(i + 2, c);
    }
  }

  bool Substitute() {
    for (int64_t i = n_; i-- > 0;) {
      if (u_[i].pivot == T(0)) return false;
      TakeOutKnown(i);
      for (int64_t c = 0; c < x_.columns; ++c) x_(i, c) /= u_[i].pivot;
    }
    return true;
  }

  void SubstitutePerturbed() {
    Real largest = 0;
    for (const Row& row : u_)
      largest = std::max({largest, std::abs(row.pivot), std::abs(row.next), std::abs(row.second)});
    for (int64_t i = n_; i-- > 0;) {
      TakeOutKnown(i);
      MoveFromZero(i, std::numeric_limits<Real>::epsilon() * largest);
      const T inverse = T(1) / u_[i].pivot;
      for (int64_t c = 0; c < x_.columns; ++c) x_(i, c) *= inverse;
    }
  }

  // LAPACK's way (xLAGTS): a pivot that row i divided by would overflow is moved by `step`, which
  // doubles until it is enough; one that is only small is scaled together with its row.
  void MoveFromZero(int64_t i, Real step) {
    constexpr Real kSafe = std::numeric_limits<Real>::min();
    T& pivot = u_[i].pivot;
    Real largest = 0;
    for (int64_t c = 0; c < x_.columns; ++c) largest = std::max(largest, std::abs(x_(i, c)));
    step = std::copysign(std::max(step, kSafe), std::real(pivot));
    // Doubling from the smallest number takes no more than this; NaN ends it at once.
    for (int doublings = 0; doublings < 4096; ++doublings) {
      const Real size = std::abs(pivot);
      if (!(size < 1)) return;
      if (size >= kSafe ? largest * kSafe > size : size == 0 || largest * kSafe > size) {
        pivot += step;
        step *= 2;
      } else if (size < kSafe) {
        pivot *= 1 / kSafe;
        for (int64_t c = 0; c < x_.columns; ++c) x_(i, c) *= 1 / kSafe;
        return;
      } else {
        return;
      }
    }
  }

  const T *above_, *diagonal_, *below_;
  MatrixRef<const T> rhs_;
  MatrixRef<T> x_;
  int64_t n_;
  std::vector<Row> u_;
};

absl::Status PrepareTridiagonalSolve(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool pivots, p.AttrBool("partial_pivoting"));
  TENON_ASSIGN_OR_RETURN(const bool perturb, p.AttrBool("perturb_singular"));
  if (perturb && !pivots) return p.Invalid("perturb_singular needs partial_pivoting");
  TENON_RETURN_IF_ERROR(step.ReadInputs(2));
  if (step.in(0).rows != 3) {
    return p.Invalid(
        absl::StrCat("the diagonals must be a matrix of 3 rows, not ", step.in(0).rows));
  }
  if (step.in(0).columns != step.in(1).rows) {
    return p.Invalid(absl::StrCat("the diagonals have ", step.in(0).columns,
                                  " elements, the right-hand side ", step.in(1).rows, " rows"));
  }
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(1).rows, step.in(1).columns));
  const Method method = perturb  ? Method::kPerturbPivots
                        : pivots ? Method::kPivots
                                 : Method::kThomas;
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute([method](const MatrixArgs& m) {
      System<decltype(zero)>(m).Solve(method);
      return absl::OkStatus();
    });
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> TridiagonalSolveKernels() {
  static const CpuKernelSpec specs[] = {
      {"TridiagonalSolve", {{"T", kMatrixTypes}}, PrepareTridiagonalSolve},
  };
  return specs;
}

}  // namespace tenon::cpu
