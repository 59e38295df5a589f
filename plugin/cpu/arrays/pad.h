// Paddings of the Pad ops, and the borders of MirrorPad.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Returns the paddings in input i: before and after for each of `count` dimensions, in one list.
// INVALID_ARGUMENT if the input's shape is not [count, 2] or a padding is negative.
absl::StatusOr<Dims> ReadPaddings(const Prepare& p, int i, int64_t count);

// The mirrored border of a dimension of `size` elements. Mode REFLECT mirrors at the outermost
// element and does not repeat that element. Mode SYMMETRIC repeats the outermost element.
struct Mirror {
  int64_t skip = 0;  // 1: REFLECT; 0: SYMMETRIC

  // Reads attribute `mode`.
  static absl::StatusOr<Mirror> Read(const Prepare& p);
  // Returns INVALID_ARGUMENT if a padding asks for more elements than can be mirrored.
  absl::Status Check(const Prepare& p, int64_t before, int64_t after, int64_t size) const;
  // Returns the number of the element that place i of the padded dimension repeats.
  int64_t Source(int64_t i, int64_t before, int64_t size) const {
    int64_t at = i - before;
    if (at < 0) at = -at - 1 + skip;
    return at >= size ? 2 * size - 1 - skip - at : at;
  }
};

}  // namespace tenon::cpu
