// The dimensions that a reduction keeps, and their layout in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Returns one flag per dimension of input 0: whether input 1, the axes, lists the dimension. A
// negative axis counts from the last dimension. The axes may have any shape. INVALID_ARGUMENT for
// an axis out of range or listed twice, and for axes that are not of type int32 or int64; INTERNAL
// if the value of input 1 is not known.
absl::StatusOr<std::vector<bool>> ReadReducedAxes(const Prepare& p);
// Returns `in` without the reduced dimensions or, if `keep_dims`, with size 1 for each reduced
// dimension.
Shape ReducedShape(const Shape& in, const std::vector<bool>& reduced, bool keep_dims);

// A dense input as merged dimensions, strides in bytes, outermost first. Dimensions of size 1 are
// dropped; neighbouring dimensions that are both kept or both reduced are one. If the innermost
// dimension is kept, a row of outputs is the outputs along it, and `columns` is its size.
struct ReduceLayout {
  Dims kept_size, kept_stride;        // of the kept dimensions, without the columns
  Dims reduced_size, reduced_stride;  // of the reduced dimensions; one of size 1 if there is none
  int64_t kept_count = 1;             // outputs, or rows of outputs if the innermost is kept
  int64_t reduced_count = 1;          // inputs per output
  int64_t columns = 1;                // outputs of a row; 1 if the innermost is reduced
  bool inner_reduced = true;          // the innermost dimension is reduced, or there is none

  static ReduceLayout Make(const Shape& in, const std::vector<bool>& reduced,
                           int64_t element_bytes);
  // Returns the byte offset of the first input of output o, or of row of outputs o. o < kept_count.
  int64_t KeptOffset(int64_t o) const;
};

}  // namespace tenon::cpu
