// Sparse tensors: three inputs, the coordinates of `count` entries [count, rank], their values
// [count] and the dense shape [rank]. Coordinates and shape are int64. Row i of the coordinates is
// entry i; entries may stand in any order.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

struct SparseSizes {
  int64_t count = 0;
  int rank = 0;
};

// Returns the sizes of the sparse tensor in the inputs with these numbers. INVALID_ARGUMENT if the
// inputs' shapes do not fit each other, or for more than kMaxRank columns of coordinates.
absl::StatusOr<SparseSizes> ReadSparse(const Prepare& p, int indices, int values, int shape);
// The same for an input of coordinates only.
absl::StatusOr<SparseSizes> ReadCoordinates(const Prepare& p, int indices);

// Returns the coordinates of entry i. The span points into `indices`, the data of a coordinates
// input.
inline absl::Span<const int64_t> EntryAt(const void* indices, int rank, int64_t i) {
  return {static_cast<const int64_t*>(indices) + i * rank, static_cast<size_t>(rank)};
}
// Returns the dimensions in a shape input.
inline absl::Span<const int64_t> ShapeAt(const void* shape, int rank) {
  return EntryAt(shape, rank, 0);
}

// Returns whether each coordinate lies in [0, dimension).
bool Inside(absl::Span<const int64_t> entry, absl::Span<const int64_t> shape);
// Returns the error INVALID_ARGUMENT that names entry i and the shape that the entry should lie in.
absl::Status OutsideError(int64_t i, absl::Span<const int64_t> entry,
                          absl::Span<const int64_t> shape);
// CheckInside returns INVALID_ARGUMENT unless all entries lie in the shape. CheckSorted also
// requires that the entries ascend in row-major order of their coordinates, none repeated.
absl::Status CheckInside(const void* indices, const SparseSizes& s,
                         absl::Span<const int64_t> shape);
absl::Status CheckSorted(const void* indices, const SparseSizes& s,
                         absl::Span<const int64_t> shape);

// Compares the coordinates of two entries of equal rank in row-major order; the first coordinate
// counts most. Negative if a stands before b, 0 if they are equal, positive if a stands behind b.
int CompareEntries(absl::Span<const int64_t> a, absl::Span<const int64_t> b);
// Fills `order`, of s.count numbers, with the entries' numbers in row-major order of their
// coordinates. Entries with equal coordinates keep their order. The entries need not lie in a
// shape.
void SortEntries(const void* indices, const SparseSizes& s, int64_t* order);

}  // namespace tenon::cpu
