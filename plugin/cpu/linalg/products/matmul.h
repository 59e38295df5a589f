// Shared code of the matrix products: MatMul, BatchMatMul* and their fused forms.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "plugin/cpu/linalg/products/fused_ops.h"
#include "plugin/cpu/linalg/products/scale_add.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// A batch of products, out[i] = a[a_batch[i]] * b[b_batch[i]], followed by the fused operations or
// by scale_add. Each product is [m, k] * [k, n]. Matrices lie one after the other, in row-major
// order.
struct MatMulProblem {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;  // a is stored [k, m], b is stored [n, k]
  bool conjugate_a = false, conjugate_b = false;  // complex types only
  std::vector<int64_t> a_batch, b_batch;          // one entry per matrix of the output
  FusedOps fused;                                 // the same for every matrix of the output
  std::optional<ScaleAdd> scale_add;              // only if `fused` is empty

  int64_t batch() const { return static_cast<int64_t>(a_batch.size()); }
  double flops() const { return 2.0 * batch() * m * n * k; }
};

// The three implementations. Each sets the run function of the step; output shapes are set already.
//
// For float products of few rows or little work, without oneDNN. Returns false, and sets nothing,
// if the problem is not of that kind.
absl::StatusOr<bool> PrepareSmallMatMul(Prepare& p, const MatMulProblem& problem);
// With oneDNN. UNIMPLEMENTED if oneDNN has no primitive for the problem.
absl::Status PrepareOneDnnMatMul(Prepare& p, const MatMulProblem& problem);
// For any type, with plain loops.
absl::Status PrepareAnyMatMul(Prepare& p, const MatMulProblem& problem);

// Returns the table of matmul.cc, for kernels that need a product as a part (nn/recurrent).
absl::Span<const CpuKernelSpec> MatMulKernels();

}  // namespace tenon::cpu
