// Resizing along one axis: the inputs of each output. Places are computed in single precision, as
// in TensorFlow, because they decide which inputs count.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/shape.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

struct Scaling {
  bool align_corners = false, half_pixel_centers = false;
};

// The shapes [batch, rows, columns, channels] and the scaling of an op that takes images and a new
// size.
struct ResizeProblem {
  Shape images, output;
  Scaling scaling;
};
// Reads the images' shape from input 0, and the size, [rows, columns], from input 1. Sets no output
// shape. INVALID_ARGUMENT if the size is not two positive numbers, or if CheckedShape refuses the
// output. INTERNAL if the value of input 1 is not known. Other errors as of ReadScaling, and of
// CheckImages for images and output.
absl::StatusOr<ResizeProblem> ReadResize(const Prepare& p, bool takes_both = false);
// Reads attribute align_corners and, where the op has it, half_pixel_centers. INVALID_ARGUMENT if
// both are set, unless the op `takes_both`, as of TensorFlow's only the gradient of
// nearest-neighbour resizing does.
absl::StatusOr<Scaling> ReadScaling(const Prepare& p, bool takes_both = false);
// Returns INVALID_ARGUMENT unless the images have rank 4, a row and a column at least.
// UNIMPLEMENTED for more than 2^24 rows or columns, which a float cannot number exactly.
absl::Status CheckImages(const Prepare& p, const Shape& images);
// The second half of it, for images of rank 4.
absl::Status CheckPixelsAreNumbered(const Prepare& p, const Shape& images);

// An output between two inputs: in[lower] + (in[upper] - in[lower]) * share.
struct Blend {
  int64_t lower, upper;
  float share;
};
// Return one blend for each of `out` outputs from `in` inputs, both at least 1. Nearest blends have
// share 0. `lower` and `upper` are limited to [0, in - 1].
std::vector<Blend> BilinearBlends(const Scaling& scaling, int64_t in, int64_t out);
std::vector<Blend> NearestBlends(const Scaling& scaling, int64_t in, int64_t out);

// A sparse matrix: output i is the sum of weight * in[index] over its taps, in the order of AddTap.
// Several taps of an output may have the same index. One thread builds the axis; afterwards it is
// immutable.
class ResizeAxis {
 public:
  struct Tap {
    int64_t index;
    float weight;
  };

  explicit ResizeAxis(int64_t in) : in_(in) {}
  // Adds a tap to the current output, of an index in [0, in). EndOutput() ends that output and
  // begins the next. The last output must be ended, too.
  void AddTap(int64_t index, float weight) { taps_.push_back({index, weight}); }
  void EndOutput() { ends_.push_back(static_cast<int64_t>(taps_.size())); }

  int64_t in() const { return in_; }
  int64_t out() const { return static_cast<int64_t>(ends_.size()); }
  absl::Span<const Tap> TapsOf(int64_t output) const {
    const int64_t begin = output == 0 ? 0 : ends_[output - 1];
    return absl::MakeConstSpan(taps_).subspan(begin, ends_[output] - begin);
  }
  // Returns the transposed matrix, the axis of the gradient: its inputs are this axis's outputs.
  // The taps of each of its outputs are in ascending order of index.
  ResizeAxis Transposed() const;

 private:
  int64_t in_;
  std::vector<int64_t> ends_;  // of the taps of each output
  std::vector<Tap> taps_;
};

using MakeAxis = ResizeAxis (*)(const Scaling& scaling, int64_t in, int64_t out);
// The axes of TensorFlow's interpolations, for `out` outputs from `in` inputs, both at least 1.
ResizeAxis BilinearAxis(const Scaling& scaling, int64_t in, int64_t out);
ResizeAxis NearestAxis(const Scaling& scaling, int64_t in, int64_t out);
ResizeAxis CubicAxis(const Scaling& scaling, int64_t in, int64_t out);
// Each output is the mean of the inputs that it covers, weighted by the covered length. Does not
// look at half_pixel_centers.
ResizeAxis AreaAxis(const Scaling& scaling, int64_t in, int64_t out);

}  // namespace tenon::cpu
