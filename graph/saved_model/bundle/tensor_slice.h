// Rectangular parts of tensors, as checkpoints store them and as RestoreV2 and SaveV2 name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace tenon {

// A part of a tensor of known shape: a box of `shape` elements, the first of which has the indices
// `start`.
struct Region {
  Dims start;
  Shape shape;

  // The whole tensor.
  static Region All(const Shape& shape) { return {Dims(shape.rank(), 0), shape}; }
  friend bool operator==(const Region& a, const Region& b) = default;
};

// Returns the common part of two parts of one tensor; nullopt if they share no element.
std::optional<Region> Intersect(const Region& a, const Region& b);

// Calls `run` for each run of `n` elements of `part` that lie side by side both in `a` and in `b`,
// with the offsets of the run's first element in `a` and in `b`: numbers of elements from the first
// element of that region, in row-major order. So the caller copies run by run. Runs come in
// ascending order. `part` must lie in both.
void ForEachRun(const Region& part, const Region& a, const Region& b,
                absl::FunctionRef<void(int64_t in_a, int64_t in_b, int64_t n)> run);

// A part of a tensor whose shape need not be known: one range for each dimension, in elements.
struct TensorSlice {
  static constexpr int64_t kToTheEnd = -1;
  struct Extent {
    int64_t start = 0;
    int64_t length = kToTheEnd;  // kToTheEnd: the whole dimension, and `start` is 0
  };
  absl::InlinedVector<Extent, 4> extents;

  // Parses "0,5:-:2,1": start and length, or '-' for a whole dimension. A start is at least 0, a
  // length at least 1. Empty words between colons are skipped. Empty text gives no extents, the
  // slice of a scalar. INVALID_ARGUMENT shows the text.
  static absl::StatusOr<TensorSlice> Parse(std::string_view text);
  std::string ToString() const;
  // The part as a region of `shape`; INVALID_ARGUMENT if the slice has another rank or does not lie
  // within the shape.
  absl::StatusOr<Region> In(const Shape& shape) const;
};

// The shape of a tensor and a part of it, from text such as "10 20 0,5:-".
struct ShapeAndSlice {
  Shape shape;
  TensorSlice slice;
  // INVALID_ARGUMENT for text of another form. Empty text, by which RestoreV2 means the whole
  // tensor, is of another form too. Does not compare the slice with the shape.
  static absl::StatusOr<ShapeAndSlice> Parse(std::string_view text);
};

// Returns the key of a part of a tensor in a checkpoint's index. "-" and the same extent in numbers
// give different keys.
std::string SliceKey(std::string_view tensor_name, const TensorSlice& slice);

}  // namespace tenon
