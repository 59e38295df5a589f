// The dimensions that a reduction keeps, and their layout in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Returns one flag per dimension of input 0: whether value input 1 lists it. INVALID_ARGUMENT for
// an axis out of range or listed twice.
absl::StatusOr<std::vector<bool>> ReadReducedAxes(const Prepare& p);
// Returns `in` without the reduced dimensions or, if `keep_dims`, with size 1 for each of them.
Shape ReducedShape(const Shape& in, const std::vector<bool>& reduced, bool keep_dims);

// The input as merged dimensions, strides in bytes, outermost first.
struct ReduceLayout {
  Dims kept_size, kept_stride;        // without the columns
  Dims reduced_size, reduced_stride;  // at least one
  int64_t kept_count = 1;     // outputs (rows of outputs if the innermost dimension is kept)
  int64_t reduced_count = 1;  // inputs per output
  int64_t columns = 1;        // of a row of outputs
  bool inner_reduced = true;

  static ReduceLayout Make(const Shape& in, const std::vector<bool>& reduced,
                           int64_t element_bytes);
  // Byte offset of output (row) `o`'s first input.
  int64_t KeptOffset(int64_t o) const;
};

}  // namespace tenon::cpu
