#include "plugin/cpu/linalg/coded/coded_problem.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<CodedProblem> ReadCodedProblem(Prepare& p, int first_arg) {
  const Shape &a = p.input_shape(0), &b = p.input_shape(1);
  CodedProblem q;
  TENON_ASSIGN_OR_RETURN(q.transposed, p.AttrBool("transpose_b"));
  if (a.rank() < 1 || b.rank() < 2 || (q.transposed && b.rank() != 2))
    return p.Invalid("a needs a dimension, and b must be a matrix");
  q.k = b.dim(q.transposed ? 1 : 0);
  if (a.dim(a.rank() - 1) != q.k) {
    return p.Invalid(
        absl::StrCat("the sizes of ", a.ToString(), " and ", b.ToString(), " do not fit"));
  }
  Dims dims(a.dims().begin(), a.dims().end() - 1);
  q.m = Shape(dims).num_elements();
  if (q.transposed) {
    dims.push_back(b.dim(0));
  } else {
    dims.insert(dims.end(), b.dims().begin() + 1, b.dims().end());
  }
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, dims));
  q.n = Shape(Dims(dims.begin() + (a.rank() - 1), dims.end())).num_elements();
  TENON_ASSIGN_OR_RETURN(q.fused, ReadFusedOps(p, first_arg));
  if (q.fused.batch_norm >= 0)
    return p.Unimplemented("fused_ops [FusedBatchNorm] of a matrix product is not built");
  TENON_RETURN_IF_ERROR(CheckFusedShapes(p, q.fused, output, output.rank() - 1));
  if (q.fused.bias >= 0 && p.input_shape(q.fused.bias).num_elements() != q.n)
    return p.Invalid("the bias needs a value for each column of b");
  p.set_output_shape(0, output);
  return q;
}

absl::Status CheckByteTerms(const Prepare& p, int64_t terms, int64_t most) {
  if (terms <= most) return absl::OkStatus();
  return p.Unimplemented(
      absl::StrCat("sums of ", terms, " products of bytes may not fit 32 bits: is not built"));
}

}  // namespace tenon::cpu
