// Sparse tensors: three inputs, the coordinates of `count` entries [count, rank], their values
// [count] and the dense shape [rank].
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

struct SparseSizes {
  int64_t count = 0;
  int rank = 0;
};

// Returns the sizes of the sparse tensor in these three inputs. INVALID_ARGUMENT if the inputs'
// shapes do not fit each other.
absl::StatusOr<SparseSizes> ReadSparse(const Prepare& p, int indices, int values, int shape);
// The same for an input of coordinates only.
absl::StatusOr<SparseSizes> ReadCoordinates(const Prepare& p, int indices);

// Returns the coordinates of entry i.
inline absl::Span<const int64_t> EntryAt(const void* indices, int rank, int64_t i) {
  return {static_cast<const int64_t*>(indices) + i * rank, static_cast<size_t>(rank)};
}
inline absl::Span<const int64_t> ShapeAt(const void* shape, int rank) {
  return EntryAt(shape, rank, 0);
}

bool Inside(absl::Span<const int64_t> entry, absl::Span<const int64_t> shape);
// INVALID_ARGUMENT that names entry i and the shape that it should lie in.
absl::Status OutsideError(int64_t i, absl::Span<const int64_t> entry,
                          absl::Span<const int64_t> shape);
// CheckInside returns INVALID_ARGUMENT unless all entries lie in the shape. CheckSorted also
// requires that each entry stands behind the previous entry, in row-major order.
absl::Status CheckInside(const void* indices, const SparseSizes& s,
                         absl::Span<const int64_t> shape);
absl::Status CheckSorted(const void* indices, const SparseSizes& s,
                         absl::Span<const int64_t> shape);

// < 0, 0 or > 0 as entry a stands before, at or behind entry b, row by row.
int CompareEntries(absl::Span<const int64_t> a, absl::Span<const int64_t> b);
// Fills `order` with the entries' numbers, row by row; entries at the same place keep their order.
void SortEntries(const void* indices, const SparseSizes& s, int64_t* order);

}  // namespace tenon::cpu
