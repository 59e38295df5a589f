// Tensors cut along an axis, with a range of values for each slice.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// [outer, count, inner] elements; without an axis the tensor is one slice.
struct Slices {
  int64_t outer = 1, count = 1, inner = 1;
  int64_t size() const { return outer * count * inner; }
};

// Slices of `shape` along attribute `axis`. INVALID_ARGUMENT unless that is -1 or a dimension.
absl::StatusOr<Slices> ReadSlices(const Prepare& p, const Shape& shape);
// Returns INVALID_ARGUMENT unless inputs i and i + 1 have one value per slice.
absl::Status CheckRanges(const Prepare& p, const Slices& slices, int i);

// Calls f(slice, begin, end) for pieces of slices that cover all elements, split over the workers.
template <typename F>
void ForEachPiece(const Slices& slices, Workers& workers, F f) {
  constexpr int64_t kGrain = 16 << 10;
  workers.ParallelFor(slices.size(), kGrain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = begin / slices.inner;
      const int64_t stop = std::min(end, (row + 1) * slices.inner);
      f(row % slices.count, begin, stop);
      begin = stop;
    }
  });
}

// Calls f(begin, end) for the elements of one slice.
template <typename F>
void ForEachRun(const Slices& slices, int64_t slice, F f) {
  for (int64_t i = 0; i < slices.outer; ++i) {
    const int64_t begin = (i * slices.count + slice) * slices.inner;
    f(begin, begin + slices.inner);
  }
}

}  // namespace tenon::cpu
