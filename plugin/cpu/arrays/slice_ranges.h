// Slices: the ranges of a tensor's dimensions that a slice selects, and the block of elements that
// the ranges make.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/cpu/arrays/strided_copy.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// A range of one dimension of the sliced tensor, or a new dimension of size 1.
struct SliceRange {
  int dim = -1;        // dimension number of the tensor; -1: a new dimension
  int64_t begin = 0;   // index of the first element; 0 in an empty range
  int64_t stride = 1;  // between indices, may be negative; 1 in a range of at most one element
  int64_t size = 1;    // number of elements
  bool keep = true;    // the output's shape has this dimension; false where one index is taken
};

// The mask attributes of the StridedSlice ops. Bit i belongs to entry i of begin, end and strides.
struct SliceMasks {
  int64_t begin, end, ellipsis, new_axis, shrink;
};
// INVALID_ARGUMENT if the ellipsis mask has more than one bit.
absl::StatusOr<SliceMasks> ReadSliceMasks(const Prepare& p);

// Returns the ranges that the lists `begin`, `end`, `strides` and the masks select from a tensor of
// shape `tensor`, by TensorFlow's rules. The result has one range for each dimension of the tensor,
// in order, and between them the new dimensions. Dimensions that no entry names are whole. Bounds
// of ranges are clamped to the dimension. INVALID_ARGUMENT, without the op's name:
//   for lists of unequal length;
//   for more entries than dimensions, where entries of new dimensions and of the ellipsis do not
//   count;
//   for a stride that is 0, unless its entry is a new dimension or the ellipsis;
//   for an entry that takes one index, if its stride is negative or the index is out of bounds.
absl::StatusOr<std::vector<SliceRange>> ResolveSlice(const SliceMasks& masks,
                                                     absl::Span<const int64_t> begin,
                                                     absl::Span<const int64_t> end,
                                                     absl::Span<const int64_t> strides,
                                                     const Shape& tensor);

// The elements of a tensor that ranges of its dimensions select.
struct SliceBlock {
  Shape shape;         // of the slice: the dimensions with SliceRange::keep only
  Dims size, stride;   // of the block, per dimension of the tensor; strides in bytes
  int64_t offset = 0;  // of the block's first element from the tensor's first element, in bytes
  bool whole = true;   // the block is the whole tensor, in the same order
};
// Returns the block of `ranges`, which ResolveSlice has made for a dense tensor of this shape.
SliceBlock FindBlock(const std::vector<SliceRange>& ranges, const Shape& tensor, DataType type);

// Returns the copy from a dense tensor of shape `from` into a block. `from` has the rank of
// block.shape and broadcasts to it (BroadcastSource): dimensions of size 1 are repeated. The
// destination pointer of the copy is the block's first element: add block.offset.
StridedCopy CopyIntoBlock(DataType type, const SliceBlock& block,
                          const std::vector<SliceRange>& ranges, const Shape& from);

// Returns `shape` with the rank of `to`: leading dimensions of size 1 are added or removed.
// nullopt if `shape` does not broadcast to `to`.
std::optional<Shape> BroadcastSource(const Shape& shape, const Shape& to);

}  // namespace tenon::cpu
