#include "plugin/cpu/image/resize_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// Single precision throughout, as in TensorFlow: the places where an output falls on the next input
// depend on it.
float ScaleOf(const Scaling& scaling, int64_t in, int64_t out) {
  if (scaling.align_corners && out > 1)
    return static_cast<float>(in - 1) / static_cast<float>(out - 1);
  return static_cast<float>(in) / static_cast<float>(out);
}

float PlaceOf(const Scaling& scaling, float scale, int64_t i) {
  return scaling.half_pixel_centers ? (static_cast<float>(i) + 0.5f) * scale - 0.5f
                                    : static_cast<float>(i) * scale;
}

int64_t Inside(int64_t i, int64_t size) { return std::clamp<int64_t>(i, 0, size - 1); }

ResizeAxis AxisOf(const std::vector<Blend>& blends, int64_t in) {
  ResizeAxis axis(in);
  for (const Blend& b : blends) {
    axis.AddTap(b.lower, 1.0f - b.share);
    if (b.share != 0) axis.AddTap(b.upper, b.share);
    axis.EndOutput();
  }
  return axis;
}

// The convolution kernel of R. Keys, "Cubic convolution interpolation for digital image
// processing", 1981: within one pixel, and between one and two.
float NearCubic(double a, float x) {
  return static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
}
float FarCubic(double a, float x) {
  x += 1.0f;
  return static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
}

}  // namespace

absl::StatusOr<Scaling> ReadScaling(const Prepare& p, bool takes_both) {
  Scaling scaling;
  TENON_ASSIGN_OR_RETURN(scaling.align_corners, p.AttrBool("align_corners"));
  if (p.op().FindAttr("half_pixel_centers") == nullptr) return scaling;
  TENON_ASSIGN_OR_RETURN(scaling.half_pixel_centers, p.AttrBool("half_pixel_centers"));
  if (scaling.align_corners && scaling.half_pixel_centers && !takes_both)
    return p.Invalid("align_corners and half_pixel_centers exclude each other");
  return scaling;
}

absl::Status CheckImages(const Prepare& p, const Shape& images) {
  if (images.rank() != 4)
    return p.Invalid(absl::StrCat("the images must have rank 4, not ", images.ToString()));
  if (images.dim(1) <= 0 || images.dim(2) <= 0)
    return p.Invalid("the images must have rows and columns");
  return CheckPixelsAreNumbered(p, images);
}

absl::Status CheckPixelsAreNumbered(const Prepare& p, const Shape& images) {
  constexpr int64_t kMost = int64_t{1} << std::numeric_limits<float>::digits;
  if (images.dim(1) > kMost || images.dim(2) > kMost) {
    return p.Unimplemented(absl::StrCat("single precision cannot number the pixels of images ",
                                        images.ToString(), ": more than ", kMost, " in a row"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ResizeProblem> ReadResize(const Prepare& p, bool takes_both) {
  ResizeProblem problem;
  problem.images = p.input_shape(0);
  if (problem.images.rank() != 4)
    return p.Invalid(absl::StrCat("the images must have rank 4, not ", problem.images.ToString()));
  if (!(p.input_shape(1) == Shape({2}))) {
    return p.Invalid(absl::StrCat("the new size must be a vector of 2, not of shape ",
                                  p.input_shape(1).ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(1));
  if (size[0] <= 0 || size[1] <= 0)
    return p.Invalid(absl::StrCat("the new size must be positive, not ", size[0], "x", size[1]));
  TENON_ASSIGN_OR_RETURN(problem.output, CheckedShape(p, {problem.images.dim(0), size[0], size[1],
                                                          problem.images.dim(3)}));
  TENON_ASSIGN_OR_RETURN(problem.scaling, ReadScaling(p, takes_both));
  TENON_RETURN_IF_ERROR(CheckImages(p, problem.images));
  TENON_RETURN_IF_ERROR(CheckImages(p, problem.output));
  return problem;
}

std::vector<Blend> BilinearBlends(const Scaling& scaling, int64_t in, int64_t out) {
  const float scale = ScaleOf(scaling, in, out);
  std::vector<Blend> blends;
  for (int64_t i = 0; i < out; ++i) {
    const float at = PlaceOf(scaling, scale, i);
    const float floor = std::floor(at);
    blends.push_back({Inside(static_cast<int64_t>(floor), in),
                      Inside(static_cast<int64_t>(std::ceil(at)), in), at - floor});
  }
  return blends;
}

std::vector<Blend> NearestBlends(const Scaling& scaling, int64_t in, int64_t out) {
  const float scale = ScaleOf(scaling, in, out);
  std::vector<Blend> blends;
  for (int64_t i = 0; i < out; ++i) {
    const float at = (static_cast<float>(i) + (scaling.half_pixel_centers ? 0.5f : 0.0f)) * scale;
    const float whole = scaling.align_corners ? std::round(at) : std::floor(at);
    const int64_t nearest = Inside(static_cast<int64_t>(whole), in);
    blends.push_back({nearest, nearest, 0});
  }
  return blends;
}

ResizeAxis ResizeAxis::Transposed() const {
  // Sorted by counting, so that each sum keeps the order of the outputs.
  ResizeAxis result(out());
  result.ends_.assign(in_, 0);
  for (const Tap& tap : taps_) ++result.ends_[tap.index];
  int64_t begin = 0;
  for (int64_t& end : result.ends_) begin = std::exchange(end, begin) + begin;
  result.taps_.resize(taps_.size());
  for (int64_t i = 0; i < out(); ++i) {
    for (const Tap& tap : TapsOf(i)) result.taps_[result.ends_[tap.index]++] = {i, tap.weight};
  }
  return result;
}

ResizeAxis BilinearAxis(const Scaling& scaling, int64_t in, int64_t out) {
  return AxisOf(BilinearBlends(scaling, in, out), in);
}

ResizeAxis NearestAxis(const Scaling& scaling, int64_t in, int64_t out) {
  return AxisOf(NearestBlends(scaling, in, out), in);
}

// Pixels beyond the border are the border's; with half_pixel_centers they do not count, and a =
// -0.5 instead of -0.75. Weights are those of 1024 steps of a pixel.
ResizeAxis CubicAxis(const Scaling& scaling, int64_t in, int64_t out) {
  // TensorFlow takes weights from a table of 1024 steps; the rounding is visible.
  constexpr float kSteps = 1024;
  const float scale = ScaleOf(scaling, in, out);
  // TensorFlow's two constants of Keys' kernel: Pillow's with half_pixel_centers, OpenCV's without.
  const double a = scaling.half_pixel_centers ? -0.5 : -0.75;
  ResizeAxis axis(in);
  for (int64_t i = 0; i < out; ++i) {
    const float at = PlaceOf(scaling, scale, i);
    const float floor = std::floor(at);
    const int64_t first = static_cast<int64_t>(floor) - 1;
    const float share = std::nearbyint((at - floor) * kSteps) / kSteps;
    float weights[] = {FarCubic(a, share), NearCubic(a, share), NearCubic(a, 1 - share),
                       FarCubic(a, 1 - share)};
    if (scaling.half_pixel_centers) {
      float sum = 0;
      for (int k = 0; k < 4; ++k) {
        if (Inside(first + k, in) != first + k) weights[k] = 0;
        sum += weights[k];
      }
      if (std::abs(sum) >= 1000 * std::numeric_limits<float>::min()) {
        // Not divided: the rounding is visible in gradients of double.
        const float scale_back = 1.0f / sum;
        for (float& w : weights) w *= scale_back;
      }
    }
    for (int k = 0; k < 4; ++k) axis.AddTap(Inside(first + k, in), weights[k]);
    axis.EndOutput();
  }
  return axis;
}

ResizeAxis AreaAxis(const Scaling& scaling, int64_t in, int64_t out) {
  const float scale = ScaleOf(scaling, in, out);
  ResizeAxis axis(in);
  for (int64_t i = 0; i < out; ++i, axis.EndOutput()) {
    if (scale == 0) {  // the corners of a single pixel are aligned
      axis.AddTap(0, 1);
      continue;
    }
    const float begin = static_cast<float>(i) * scale, end = static_cast<float>(i + 1) * scale;
    const auto last = static_cast<int64_t>(std::ceil(end));
    for (auto k = static_cast<int64_t>(std::floor(begin)); k < last; ++k) {
      const float left = static_cast<float>(k), right = static_cast<float>(k + 1);
      const float covered = right > end    ? (left < begin ? scale : end - left)
                            : left < begin ? right - begin
                                           : 1.0f;
      axis.AddTap(Inside(k, in), covered / scale);
    }
  }
  return axis;
}

}  // namespace tenon::cpu
