// Shared code of the matrix products: MatMul, BatchMatMul* and their fused forms.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "plugin/cpu/linalg/products/fused_ops.h"
#include "plugin/cpu/linalg/products/scale_add.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// A batch of products of inputs 0 and 1, out[i] = a[a_batch[i]] * b[b_batch[i]], followed by the
// fused operations or by scale_add. Each product is [m, k] * [k, n]. The matrices of a tensor lie
// one after the other, each in row-major order.
struct MatMulProblem {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;  // a is stored [k, m], b is stored [n, k]
  bool conjugate_a = false, conjugate_b = false;  // without effect on real types
  std::vector<int64_t> a_batch, b_batch;          // one entry per matrix of the output
  FusedOps fused;  // the same for every matrix of the output; no batch normalisation
  std::optional<ScaleAdd> scale_add;  // only if `fused` is empty

  int64_t batch() const { return static_cast<int64_t>(a_batch.size()); }
  // Floating-point operations of the whole batch.
  double flops() const { return 2.0 * batch() * m * n * k; }
};

// The three implementations. Each sets the run function of the step. The caller has set the
// output's shape, and has seen to it that the output is not empty.
//
// Without oneDNN, for one row or little work. The caller has checked that all types are float and
// k > 0. Returns false, and sets no run function, if the problem has too much work or a form that
// the loops do not take. RESOURCE_EXHAUSTED if there is no memory for packed weights.
absl::StatusOr<bool> PrepareSmallMatMul(Prepare& p, const MatMulProblem& problem);
// With oneDNN. The caller has checked that all types are the same type of OneDnnType(), and k > 0.
// UNIMPLEMENTED if oneDNN has no primitive for the problem: no run function is set then, and
// another implementation may be taken. Else the errors of Guarded().
absl::Status PrepareOneDnnMatMul(Prepare& p, const MatMulProblem& problem);
// For any number types, in blocks of registers (packed_gemm.h), but bytes that give int32 by
// ByteMatMul, whose errors are returned. Half and bfloat16 are summed as float. Integers wrap
// around. k may be 0: the products are zeros then. RESOURCE_EXHAUSTED if the three matrices of one
// product take more than 10^15 bytes in the type of the sums.
absl::Status PrepareAnyMatMul(Prepare& p, const MatMulProblem& problem);

// Returns the table of matmul.cc, for kernels that need a product as a part (nn/recurrent).
absl::Span<const CpuKernelSpec> MatMulKernels();

}  // namespace tenon::cpu
