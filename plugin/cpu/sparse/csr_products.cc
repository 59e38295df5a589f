// Products of sparse matrices: SparseMatrixMatMul with a dense one, SparseMatrixSparseMatMul with a
// sparse one.
#include <memory>
#include <utility>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/cpu/sparse/csr_matrix.h"
#include "plugin/cpu/sparse/csr_products_loops.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status PrepareDenseProduct(Prepare& p) {
  auto s = std::make_shared<DenseProduct>(p);
  TENON_ASSIGN_OR_RETURN(s->a, CsrFactor::Of(p, "a"));
  TENON_ASSIGN_OR_RETURN(s->b, CsrFactor::Of(p, "b"));
  TENON_ASSIGN_OR_RETURN(s->transpose_output, p.AttrBool("transpose_output"));
  TENON_ASSIGN_OR_RETURN(s->conjugate_output, p.AttrBool("conjugate_output"));
  p.set_dynamic_output(0);
  p.set_run(&RunDenseProduct, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareSparseProduct(Prepare& p) {
  auto s = std::make_shared<SparseProduct>(p);
  TENON_ASSIGN_OR_RETURN(s->a, CsrFactor::Of(p, "a"));
  TENON_ASSIGN_OR_RETURN(s->b, CsrFactor::Of(p, "b"));
  TENON_ASSIGN_OR_RETURN(s->type, p.AttrType("type"));
  p.set_dynamic_output(0);
  p.set_run(&RunSparseProduct, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> CsrProductKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("SparseMatrixMatMul", "T", kMatrixTypes, PrepareDenseProduct),
      WholeTensorKernel("SparseMatrixSparseMatMul", "type", kMatrixTypes, PrepareSparseProduct),
  };
  return specs;
}

}  // namespace tenon::cpu
