// Paddings, and borders that mirror what they border on.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// [before, after] of each of `count` dimensions from value input i. INVALID_ARGUMENT for another
// shape or negative paddings.
absl::StatusOr<Dims> ReadPaddings(const Prepare& p, int i, int64_t count);

// The border of a dimension of `size` elements, which mirrors them: REFLECT leaves out the
// outermost element itself, SYMMETRIC repeats it.
struct Mirror {
  int64_t skip = 0;

  // By attribute `mode`.
  static absl::StatusOr<Mirror> Read(const Prepare& p);
  // INVALID_ARGUMENT if there are fewer elements than are to be mirrored.
  absl::Status Check(const Prepare& p, int64_t before, int64_t after, int64_t size) const;
  // The element that the padded dimension shows at place i.
  int64_t Source(int64_t i, int64_t before, int64_t size) const {
    int64_t at = i - before;
    if (at < 0) at = -at - 1 + skip;
    return at >= size ? 2 * size - 1 - skip - at : at;
  }
};

}  // namespace tenon::cpu
