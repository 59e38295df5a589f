// The broadcast of the batch dimensions of two operands.
#pragma once

#include <cstdint>
#include <vector>

#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Returns the batch dimensions of the result. INVALID_ARGUMENT if `a` and `b` do not broadcast
// together.
absl::StatusOr<Dims> BroadcastBatch(const Prepare& p, absl::Span<const int64_t> a,
                                    absl::Span<const int64_t> b);

// Returns a list: entry i is the number of the input's matrix that belongs to matrix i of the
// output. `dims` are the input's batch dimensions, `batch` the output's.
std::vector<int64_t> BatchIndices(absl::Span<const int64_t> dims, absl::Span<const int64_t> batch);

}  // namespace tenon::cpu
