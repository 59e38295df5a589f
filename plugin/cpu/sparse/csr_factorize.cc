// Factors of sparse positive definite matrices: SparseMatrixOrderingAMD, an order of rows and
// columns that leaves few entries in them, and SparseMatrixSparseCholesky.
#include <vector>

#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/cpu/sparse/csr_cholesky.h"
#include "plugin/cpu/sparse/csr_matrix.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

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
  for (int64_t b = 0; b < m->batch(); ++b)
    MinimumDegreeOrder(*m, b, static_cast<int32_t*>(out) + b * m->rows());
  return absl::OkStatus();
}

absl::Status CheckPermutation(const int32_t* places, int64_t size) {
  std::vector<bool> taken(size, false);
  for (int64_t i = 0; i < size; ++i) {
    if (places[i] < 0 || places[i] >= size || taken[places[i]]) {
      return absl::InvalidArgumentError(
          absl::StrCat("'permutation' holds ", places[i], " at place ", i,
                       ": it must hold each of 0 to ", size - 1, " once"));
    }
    taken[places[i]] = true;
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Factorize(const CsrMatrix& m, int64_t b, const int32_t* permutation,
                       CsrBuilder<T>* factors) {
  TENON_RETURN_IF_ERROR(CheckPermutation(permutation, m.rows()));
  if (PutCholeskyFactor(m, b, permutation, factors)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("matrix ", b, " is not positive definite"));
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
    for (int64_t b = 0; status.ok() && b < m->batch(); ++b)
      status = Factorize(*m, b, permutation.flat<int32_t>() + b * m->rows(), &factors);
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
