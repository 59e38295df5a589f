// Points of a tensor, given by rows of coordinates. GatherNd reads points, scatters write to
// points.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

struct Points {
  Dims size;          // of the dimensions that coordinates stand for
  int64_t count = 0;  // points
  int64_t piece = 1;  // elements that one point stands for
  DataType index_type = DataType::kInt32;
  bool skip = false;  // leave out points that lie outside; else they are errors
  bool wrap = false;  // coordinates are taken modulo their dimension

  // Returns the number of the piece at point i, or -1 if the point lies outside.
  int64_t PieceOf(const void* indices, int64_t i) const;
  // INVALID_ARGUMENT, with the point's coordinates.
  absl::Status Outside(const void* indices, int64_t i) const;
};

// Returns INVALID_ARGUMENT if indices of type `index_type` cannot number all of `size` places.
absl::Status CheckIndexRange(const Prepare& p, DataType index_type, int64_t size);
// The same without the op's name in messages.
absl::Status CheckIndexRange(DataType index_type, int64_t size);

// Points of `target` from indices [..., depth]. `updates` (if given) becomes the shape that values
// for them have: that of indices but for the last dimension, then what one point stands for.
// INVALID_ARGUMENT for indices of rank 0 or more coordinates than dimensions.
absl::StatusOr<Points> DescribePoints(const Prepare& p, const Shape& indices, DataType index_type,
                                      const Shape& target, Shape* updates);
// The same without the op's name in messages.
absl::StatusOr<Points> DescribePoints(const Shape& indices, DataType index_type,
                                      const Shape& target, Shape* updates);
// INVALID_ARGUMENT if `indices` name points of an empty target, or of a scalar.
absl::Status CheckPointsExist(const Shape& indices, const Shape& target);
// The same for points that values go to, unless there are neither; and the values, as what they go
// to, must have at least one dimension.
absl::Status CheckPointUpdates(const Shape& indices, const Shape& updates, const Shape& target);
// Reads attribute bad_indices_policy into points->skip. INVALID_ARGUMENT for an unknown policy.
absl::Status ReadBadIndicesPolicy(const Prepare& p, Points* points);

// A scatter: values replace the target's elements at points, or are combined with them.
struct Scatter {
  Points points;
  ElementCopy copy;
  ElementStep combine;  // of two pieces; without a loop values replace what is there

  Scatter(Points where, DataType type) : points(std::move(where)), copy(type) {}
  // Makes the scatter combine by `op`. Returns false if `op` has no loop for the type.
  bool CombineBy(ElementOp op, DataType type);
  // Applies the points in their order, repeated points included.
  absl::Status Run(const void* indices, const void* updates, void* target) const;
};

}  // namespace tenon::cpu
