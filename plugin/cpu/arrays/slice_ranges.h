// Slices: the ranges of a tensor's dimensions that a slice selects, and the block of elements that
// the ranges make.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// A range of one input dimension, or a new dimension of size 1.
struct SliceRange {
  int dim = -1;  // dimension number of the input; -1: a new dimension
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t size = 1;
  bool keep = true;  // the output's shape has this dimension; false where one index is taken
};

// The mask attributes of the StridedSlice ops. Bit i belongs to entry i of begin, end and strides.
struct SliceMasks {
  int64_t begin, end, ellipsis, new_axis, shrink;
};
// INVALID_ARGUMENT if the ellipsis mask has more than one bit.
absl::StatusOr<SliceMasks> ReadSliceMasks(const Prepare& p);

// Returns the ranges that the lists `begin`, `end`, `strides` and the masks select from a tensor of
// shape `tensor`, by TensorFlow's rules. The ranges stand in the order of the output's dimensions.
// INVALID_ARGUMENT, without the node's name, for lists of unequal length, a stride of 0, an index
// out of bounds, or too many entries.
absl::StatusOr<std::vector<SliceRange>> ResolveSlice(const SliceMasks& masks,
                                                     absl::Span<const int64_t> begin,
                                                     absl::Span<const int64_t> end,
                                                     absl::Span<const int64_t> strides,
                                                     const Shape& tensor);

// The elements of a tensor that ranges of its dimensions select.
struct SliceBlock {
  Shape shape;         // of the output: the kept dimensions only
  Dims size, stride;   // per dimension of the tensor; strides in bytes
  int64_t offset = 0;  // of the block's first element from the tensor's first element, in bytes
  bool whole = true;   // the block is the whole tensor, in the same order
};
SliceBlock FindBlock(const std::vector<SliceRange>& ranges, const Shape& tensor, DataType type);

// Returns the copy from a dense tensor of shape `from` into a block. The destination pointer of the
// copy is the block's first element. Dimensions of size 1 of `from` are repeated.
StridedCopy CopyIntoBlock(DataType type, const SliceBlock& block,
                          const std::vector<SliceRange>& ranges, const Shape& from);

// Returns `shape` with the rank of `to`, by adding or removing leading dimensions of size 1.
// nullopt if `shape` does not broadcast to `to`.
std::optional<Shape> BroadcastSource(const Shape& shape, const Shape& to);

}  // namespace tenon::cpu
