// Factors of sparse positive definite matrices: SparseMatrixOrderingAMD, an order of rows and
// columns that leaves few entries in them, and SparseMatrixSparseCholesky.
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <complex>
#include <vector>

#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/cpu/sparse/csr_matrix.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

using Permutation = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int>;

// Matrix b of the batch in Eigen's form, in which each place of a row is there once; value_of(i) is
// that of entry i.
template <typename T, typename F>
Eigen::SparseMatrix<T> ToEigen(const CsrMatrix& m, int64_t b, F&& value_of) {
  const int32_t* const rows = m.row_starts.flat<int32_t>() + b * (m.rows() + 1);
  std::vector<Eigen::Triplet<T>> entries;
  for (int64_t r = 0; r < m.rows(); ++r) {
    for (int64_t i = m.first(b) + rows[r]; i < m.first(b) + rows[r + 1]; ++i) {
      entries.emplace_back(static_cast<int>(r), m.entry_columns.flat<int32_t>()[i], value_of(i));
    }
  }
  Eigen::SparseMatrix<T> made(m.rows(), m.columns());
  made.setFromTriplets(entries.begin(), entries.end());
  return made;
}

absl::Status CheckSquare(const CsrMatrix& m) {
  if (m.rows() == m.columns()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the matrices must be square, their shape is ", m.shape.ToString()));
}

absl::Status RunOrdering(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrInput(args, 0));
  TENON_RETURN_IF_ERROR(CheckSquare(*m));
  const Shape shape = m->shape.rank() == 3 ? Shape({m->batch(), m->rows()}) : Shape({m->rows()});
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, shape));
  for (int64_t b = 0; b < m->batch(); ++b) {
    Permutation order;
    const Eigen::SparseMatrix<float> pattern = ToEigen<float>(*m, b, [](int64_t) { return 1.0f; });
    Eigen::AMDOrdering<int>()(pattern.selfadjointView<Eigen::Lower>(), order);
    std::copy_n(order.indices().data(), m->rows(), static_cast<int32_t*>(out) + b * m->rows());
  }
  return absl::OkStatus();
}

absl::StatusOr<Permutation> ReadPermutation(const int32_t* places, int64_t size) {
  Permutation permutation(size);
  std::vector<bool> taken(size, false);
  for (int64_t i = 0; i < size; ++i) {
    if (places[i] < 0 || places[i] >= size || taken[places[i]]) {
      return absl::InvalidArgumentError(
          absl::StrCat("'permutation' holds ", places[i], " at place ", i,
                       ": it must hold each of 0 to ", size - 1, " once"));
    }
    taken[places[i]] = true;
    permutation.indices()[i] = places[i];
  }
  return permutation;
}

// Puts the factor L of matrix b with L L^H = P A P^T. Of A the lower triangle counts.
template <typename T>
absl::Status Factorize(const CsrMatrix& m, int64_t b, const Permutation& permutation,
                       CsrBuilder<T>* factors) {
  using Columns = Eigen::SparseMatrix<T>;
  const Columns a = ToEigen<T>(m, b, [&](int64_t i) { return m.values.flat<T>()[i]; });
  Columns ordered(m.rows(), m.rows());
  ordered.template selfadjointView<Eigen::Lower>() =
      a.template selfadjointView<Eigen::Lower>().twistedBy(permutation.inverse());
  Eigen::SimplicialLLT<Columns, Eigen::Lower, Eigen::NaturalOrdering<int>> solver(ordered);
  if (solver.info() != Eigen::Success)
    return absl::InvalidArgumentError(absl::StrCat("matrix ", b, " is not positive definite"));
  const Eigen::SparseMatrix<T, Eigen::RowMajor> lower = solver.matrixL();
  for (int64_t r = 0; r < m.rows(); ++r) {
    for (typename Eigen::SparseMatrix<T, Eigen::RowMajor>::InnerIterator it(lower, r); it; ++it)
      factors->Put(it.col(), it.value());
    factors->EndRow();
  }
  return absl::OkStatus();
}

absl::Status RunCholesky(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrInput(args, 0));
  TENON_RETURN_IF_ERROR(CheckSquare(*m));
  const Tensor permutation = args.run_state->Input(1);
  const absl::Span<const int64_t> rows = m->shape.dims().first(m->shape.rank() - 1);
  if (permutation.shape().dims() != rows) {
    return absl::InvalidArgumentError(absl::StrCat("'permutation' of shape ",
                                                   permutation.shape().ToString(),
                                                   " for matrices of shape ", m->shape.ToString()));
  }
  absl::StatusOr<ObjectRef<CsrMatrix>> made;
  VisitMatrixType(m->type(), [&](auto zero) {
    using T = decltype(zero);
    CsrBuilder<T> factors;
    absl::Status status;
    for (int64_t b = 0; status.ok() && b < m->batch(); ++b) {
      const auto order = ReadPermutation(permutation.flat<int32_t>() + b * m->rows(), m->rows());
      status = order.ok() ? Factorize(*m, b, *order, &factors) : order.status();
    }
    made = status.ok() ? factors.Finish(m->type(), m->shape) : status;
  });
  TENON_RETURN_IF_ERROR(made.status());
  return SetCsrOutput(args, 0, *std::move(made));
}

}  // namespace

absl::Span<const CpuKernelSpec> CsrFactorKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("SparseMatrixOrderingAMD", PrepareWhole<&RunOrdering>),
      WholeTensorKernel("SparseMatrixSparseCholesky", "type", kMatrixTypes,
                        PrepareWhole<&RunCholesky>),
  };
  return specs;
}

}  // namespace tenon::cpu
