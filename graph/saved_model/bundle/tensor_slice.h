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

// A part of a tensor whose shape is known: it begins at `start` and has this shape.
struct Region {
  Dims start;
  Shape shape;

  static Region All(const Shape& shape) { return {Dims(shape.rank(), 0), shape}; }
  friend bool operator==(const Region& a, const Region& b) = default;
};

// What both have; nullopt if that is no element. Both are parts of one tensor.
std::optional<Region> Intersect(const Region& a, const Region& b);

// Calls `run` for each row of `n` elements of `part` that lie side by side in `a` as well as in
// `b`, both of which it is in, with their places there.
void ForEachRun(const Region& part, const Region& a, const Region& b,
                absl::FunctionRef<void(int64_t in_a, int64_t in_b, int64_t n)> run);

// One range for each dimension.
struct TensorSlice {
  static constexpr int64_t kToTheEnd = -1;
  struct Extent {
    int64_t start = 0;
    int64_t length = kToTheEnd;  // then start is 0
  };
  absl::InlinedVector<Extent, 4> extents;

  // From "0,5:-:2,1": start and length, or all of the dimension. INVALID_ARGUMENT shows the text.
  static absl::StatusOr<TensorSlice> Parse(std::string_view text);
  std::string ToString() const;
  // INVALID_ARGUMENT if it does not lie within the shape.
  absl::StatusOr<Region> In(const Shape& shape) const;
};

// "10 20 0,5:-": the shape of a tensor, and the part of it that is meant.
struct ShapeAndSlice {
  Shape shape;
  TensorSlice slice;
  static absl::StatusOr<ShapeAndSlice> Parse(std::string_view text);
};

// The key under which a checkpoint's index has a part of a tensor.
std::string SliceKey(std::string_view tensor_name, const TensorSlice& slice);

}  // namespace tenon
