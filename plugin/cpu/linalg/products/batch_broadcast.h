// Batch dimensions of two operands, broadcast against each other.
#pragma once

#include <cstdint>
#include <vector>

#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// The batch dimensions of the result; INVALID_ARGUMENT if those of a and b do not fit.
absl::StatusOr<Dims> BroadcastBatch(const Prepare& p, absl::Span<const int64_t> a,
                                    absl::Span<const int64_t> b);

// Number of the matrix of an input with batch dimensions `dims` that belongs to matrix i of the
// output `batch`.
std::vector<int64_t> BatchIndices(absl::Span<const int64_t> dims, absl::Span<const int64_t> batch);

}  // namespace tenon::cpu
