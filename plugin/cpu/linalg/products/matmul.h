// The matrix products MatMul, BatchMatMul* and their fused forms: what they share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "plugin/cpu/linalg/products/fused_ops.h"
#include "plugin/cpu/linalg/products/scale_add.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// out[i] = a[a_batch[i]] * b[b_batch[i]], matrices stored one after the other; then what is fused.
struct MatMulProblem {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;  // a is stored [k, m], b is stored [n, k]
  bool conjugate_a = false, conjugate_b = false;  // complex types only
  std::vector<int64_t> a_batch, b_batch;          // equally many: matrices of the output
  FusedOps fused;                                 // its arguments serve every matrix of the output
  std::optional<ScaleAdd> scale_add;              // with what is fused empty

  int64_t batch() const { return static_cast<int64_t>(a_batch.size()); }
  double flops() const { return 2.0 * batch() * m * n * k; }
};

// float, few rows or little work: no oneDNN. False if the problem is not of that kind.
absl::StatusOr<bool> PrepareSmallMatMul(Prepare& p, const MatMulProblem& problem);
// UNIMPLEMENTED if oneDNN has no primitive.
absl::Status PrepareOneDnnMatMul(Prepare& p, const MatMulProblem& problem);
// Any type, plain loops.
absl::Status PrepareAnyMatMul(Prepare& p, const MatMulProblem& problem);

// The table of matmul.cc, for kernels that multiply on their way.
absl::Span<const CpuKernelSpec> MatMulKernels();

}  // namespace tenon::cpu
