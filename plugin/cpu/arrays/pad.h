// Paddings of the Pad ops, and the borders of MirrorPad.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Returns the paddings in input i, an int32 or int64 tensor of shape [count, 2]. Entry 2 * d of the
// result is the padding before dimension d, entry 2 * d + 1 the padding after it. INVALID_ARGUMENT
// for another shape or type, or a negative padding; INTERNAL if the input's value is not known.
absl::StatusOr<Dims> ReadPaddings(const Prepare& p, int i, int64_t count);

// The mirrored border of a dimension of `size` elements. Mode REFLECT mirrors at the outermost
// element and does not repeat that element. Mode SYMMETRIC repeats the outermost element.
struct Mirror {
  int64_t skip = 0;  // 1: REFLECT; 0: SYMMETRIC

  // Reads attribute `mode`. Any mode but REFLECT counts as SYMMETRIC.
  static absl::StatusOr<Mirror> Read(const Prepare& p);
  // Returns INVALID_ARGUMENT if a padding exceeds size - skip, the elements that can be mirrored.
  absl::Status Check(const Prepare& p, int64_t before, int64_t after, int64_t size) const;
  // Returns the index of the unpadded element that index i of the padded dimension repeats. Only
  // for paddings that pass Check.
  int64_t Source(int64_t i, int64_t before, int64_t size) const {
    int64_t at = i - before;
    if (at < 0) at = -at - 1 + skip;
    return at >= size ? 2 * size - 1 - skip - at : at;
  }
};

}  // namespace tenon::cpu
