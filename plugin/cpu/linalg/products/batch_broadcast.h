// The broadcast of the batch dimensions of two operands.
#pragma once

#include <cstdint>
#include <vector>
#include "graph/tensor/shape.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Returns the dimensions to which the batch dimensions `a` and `b` broadcast. INVALID_ARGUMENT if
// they do not broadcast together.
absl::StatusOr<Dims> BroadcastBatch(const Prepare& p, absl::Span<const int64_t> a,
                                    absl::Span<const int64_t> b);

// Returns a list with one entry per matrix of the output: entry i is the number of the input's
// matrix that belongs to matrix i of the output. `dims` are the input's batch dimensions, which
// must broadcast to `batch`, the output's. Matrices are numbered in row-major order of the batch.
std::vector<int64_t> BatchIndices(absl::Span<const int64_t> dims, absl::Span<const int64_t> batch);

}  // namespace tenon::cpu
