// Which elements of a tensor a slice names: ranges of its dimensions, and the block that they make.
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
  int dim = -1;  // of the input; -1: new
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t size = 1;
  bool keep = true;  // in the output's shape
};

// The mask attributes of the StridedSlice ops.
struct SliceMasks {
  int64_t begin, end, ellipsis, new_axis, shrink;
};
absl::StatusOr<SliceMasks> ReadSliceMasks(const Prepare& p);

// What `begin:end:stride` lists and the masks take from `tensor`. INVALID_ARGUMENT, without the
// op's name, for what TensorFlow refuses.
absl::StatusOr<std::vector<SliceRange>> ResolveSlice(const SliceMasks& masks,
                                                     absl::Span<const int64_t> begin,
                                                     absl::Span<const int64_t> end,
                                                     absl::Span<const int64_t> strides,
                                                     const Shape& tensor);

// The elements of a tensor that ranges of its dimensions name.
struct SliceBlock {
  Shape shape;         // of the result: without the dimensions that are not kept
  Dims size, stride;   // per dimension of the tensor, strides in bytes
  int64_t offset = 0;  // bytes
  bool whole = true;   // all elements in their order
};
SliceBlock FindBlock(const std::vector<SliceRange>& ranges, const Shape& tensor, DataType type);

// From a dense tensor of shape `from`, whose dimensions of 1 repeat, into the block that begins at
// the destination.
StridedCopy CopyIntoBlock(DataType type, const SliceBlock& block,
                          const std::vector<SliceRange>& ranges, const Shape& from);

// The shape of a tensor that broadcasts to `to`, without leading dimensions of 1 or with more of
// them, so that the ranks are equal; nullopt where it does not broadcast.
std::optional<Shape> BroadcastSource(const Shape& shape, const Shape& to);

}  // namespace tenon::cpu
