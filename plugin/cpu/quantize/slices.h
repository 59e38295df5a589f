// Tensors cut into slices along an axis. Each slice has a range of values, or a scale, of its own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/base/workers.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// A tensor as [outer, count, inner], in row-major order. Slice i is the elements [:, i, :]. Without
// an axis the tensor is one slice: outer and count are 1. `outer` is 0 if there is an axis and the
// tensor has no elements.
struct Slices {
  int64_t outer = 1, count = 1, inner = 1;
  int64_t size() const { return outer * count * inner; }
};

// Returns the slices of `shape` along attribute `axis`; one slice if the op has no such attribute,
// or for -1. INVALID_ARGUMENT for any other axis that is no dimension of `shape`.
absl::StatusOr<Slices> ReadSlices(const Prepare& p, const Shape& shape);
// Returns INVALID_ARGUMENT unless inputs i and i + 1 have one value per slice each: as a vector or,
// for one slice, as a scalar.
absl::Status CheckRanges(const Prepare& p, const Slices& slices, int i);

// Calls f(slice, begin, end) for ranges of elements that lie in one slice each and cover all
// elements, split over the workers. A slice can have several ranges. Calls run at the same time.
template <typename F>
void ForEachPiece(const Slices& slices, Workers& workers, F f) {
  // 64 KB of floats, as GrainFor has.
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

// Calls f(begin, end) for the `outer` contiguous ranges of one slice, in ascending order, in this
// thread.
template <typename F>
void ForEachRun(const Slices& slices, int64_t slice, F f) {
  for (int64_t i = 0; i < slices.outer; ++i) {
    const int64_t begin = (i * slices.count + slice) * slices.inner;
    f(begin, begin + slices.inner);
  }
}

}  // namespace tenon::cpu
