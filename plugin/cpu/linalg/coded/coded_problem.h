// The sizes of a product with coded weights, and what is fused to it.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/linalg/products/fused_ops.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// [m, k] by [k, n], then what is fused.
struct CodedProblem {
  int64_t m = 0, k = 0, n = 0;
  bool transposed = false;  // b is [n, k]
  FusedOps fused;
};

// Reads the sizes of inputs 0 and 1 and attribute transpose_b, and sets the output's shape.
// `first_arg` is the first input of what is fused. INVALID_ARGUMENT if the shapes do not fit;
// UNIMPLEMENTED for a batch normalization; else errors of ReadFusedOps and CheckFusedShapes.
absl::StatusOr<CodedProblem> ReadCodedProblem(Prepare& p, int first_arg);
// UNIMPLEMENTED if sums of `terms` products of bytes, more than `most`, may not fit 32 bits.
absl::Status CheckByteTerms(const Prepare& p, int64_t terms, int64_t most);

}  // namespace tenon::cpu
