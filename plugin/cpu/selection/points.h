// Points of a tensor, given by rows of coordinates. GatherNd reads points, scatters write to
// points.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// The geometry of points in a target. A point has as many coordinates as `size` has dimensions, and
// stands for a piece: the elements behind those coordinates, which are contiguous.
struct Points {
  Dims size;          // the target's leading dimensions: one for each coordinate of a point
  int64_t count = 0;  // points; 0 for any number of points without coordinates and elements
  int64_t piece = 1;  // elements that one point stands for
  DataType index_type = DataType::kInt32;
  bool skip = false;  // the kernel leaves out points that lie outside; else they are errors
  bool wrap = false;  // coordinates are taken modulo their dimension, unless that is 0

  // Returns the number of the piece at point i. The piece begins at element number * `piece` of the
  // target.
  // -1 if the point lies outside, whether `skip` or not. `indices` are `count` rows of coordinates.
  int64_t PieceOf(const void* indices, int64_t i) const;
  // Returns the error INVALID_ARGUMENT with the coordinates of point i.
  absl::Status Outside(const void* indices, int64_t i) const;
};

// Returns INVALID_ARGUMENT if `size` exceeds the greatest number of `index_type`, taken as signed:
// indices could not reach all of `size` elements.
absl::Status CheckIndexRange(const Prepare& p, DataType index_type, int64_t size);
// The same without the op's name in messages.
absl::Status CheckIndexRange(DataType index_type, int64_t size);

// Returns the points of `target` that indices of shape [..., depth] name, with `skip` and `wrap`
// false. Sets *updates, unless null, to the shape of values for these points: `indices` without the
// last dimension, then a piece's. INVALID_ARGUMENT for indices of rank 0, for more coordinates than
// the target has dimensions, or for updates that CheckedShape refuses.
absl::StatusOr<Points> DescribePoints(const Prepare& p, const Shape& indices, DataType index_type,
                                      const Shape& target, Shape* updates);
// The same without the op's name in messages, and with Shape::Make's limits for the updates.
absl::StatusOr<Points> DescribePoints(const Shape& indices, DataType index_type,
                                      const Shape& target, Shape* updates);
// Returns INVALID_ARGUMENT if the target is a scalar, or is empty while `indices` name points. The
// rank of `indices` is at least 1.
absl::Status CheckPointsExist(const Shape& indices, const Shape& target);
// Returns INVALID_ARGUMENT if updates or target are scalars. Also returns it, as TensorFlow does,
// unless indices and updates are both empty, or none of the three is empty.
absl::Status CheckPointUpdates(const Shape& indices, const Shape& updates, const Shape& target);
// Reads attribute bad_indices_policy into points->skip: true for IGNORE; false for DEFAULT, ERROR
// and an empty policy. INVALID_ARGUMENT for any other policy.
absl::Status ReadBadIndicesPolicy(const Prepare& p, Points* points);

// A scatter: values replace the target's elements at points, or are combined with them. Immutable
// once made.
struct Scatter {
  Points points;
  ElementCopy copy;
  ElementStep combine;  // of two pieces; without a loop, values replace elements
  bool joins = false;   // values are strings, which are appended to elements

  Scatter(Points where, DataType type) : points(std::move(where)), copy(type) {}
  // Makes the scatter set elements to op(element, value). Returns false if `op` has no loop for the
  // type; the scatter must not run then.
  bool CombineBy(ElementOp op, DataType type);
  // Applies the points in their order, repeated points included, in the calling thread. `updates`
  // has one piece per point, and does not overlap `target`. INVALID_ARGUMENT for the first point
  // outside of the target, unless points.skip; the points before have changed the target.
  absl::Status Run(const void* indices, const void* updates, void* target) const;
};

}  // namespace tenon::cpu
