#include "plugin/cpu/image/crop_and_resize_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

// Between which pixels of one axis a crop's pixel lies.
struct CropPlace {
  bool inside;
  int64_t lower, upper, nearest;
  float share;
};

// One axis of one box. Single precision as in TensorFlow: it decides what lies inside.
class BoxAxis {
 public:
  enum class Rounding { kImage, kBoxes };  // TensorFlow's gradient of the boxes rounds differently
  BoxAxis(float begin, float end, int64_t crop, int64_t size, Rounding rounding)
      : begin_(begin), end_(end), crop_(crop), last_(static_cast<float>(size - 1)) {
    if (crop <= 1) return;
    const float steps = static_cast<float>(crop - 1);
    ratio_ = last_ / steps;
    scale_ = rounding == Rounding::kBoxes ? (end - begin) * ratio_ : (end - begin) * last_ / steps;
  }

  CropPlace At(int64_t i) const {
    const float at = crop_ > 1 ? begin_ * last_ + static_cast<float>(i) * scale_
                               : static_cast<float>(0.5 * (begin_ + end_) * last_);
    if (!(at >= 0 && at <= last_)) return {};
    const float floor = std::floor(at);
    return {true, static_cast<int64_t>(floor), static_cast<int64_t>(std::ceil(at)),
            static_cast<int64_t>(std::round(at)), at - floor};
  }
  // What place i moves by when the box's begin or end moves by 1.
  double ByBegin(int64_t i) const { return crop_ > 1 ? last_ - ByEnd(i) : 0.5 * last_; }
  double ByEnd(int64_t i) const {
    return crop_ > 1 ? static_cast<double>(i) * ratio_ : 0.5 * last_;
  }

 private:
  float begin_, end_;
  int64_t crop_;
  float last_, ratio_ = 0, scale_ = 0;
};

struct Box {
  BoxAxis rows, columns;
};

Box BoxOf(const Crop& s, const float* boxes, int64_t i, BoxAxis::Rounding rounding) {
  const float* const b = boxes + 4 * i;
  return {BoxAxis(b[0], b[2], s.crop_rows, s.rows, rounding),
          BoxAxis(b[1], b[3], s.crop_columns, s.columns, rounding)};
}

// Calls pixel(row, column, places) for each pixel of a crop.
template <typename F>
void ForEachPixel(const Crop& s, const Box& box, F pixel) {
  for (int64_t r = 0; r < s.crop_rows; ++r) {
    const CropPlace row = box.rows.At(r);
    for (int64_t c = 0; c < s.crop_columns; ++c) pixel(r, c, row, box.columns.At(c));
  }
}

absl::Status CheckIndices(const Crop& s, const void* indices) {
  const auto* const index = static_cast<const int32_t*>(indices);
  for (int64_t i = 0; i < s.boxes; ++i) {
    if (index[i] >= 0 && index[i] < s.batch) continue;
    return absl::OutOfRangeError(absl::StrCat("box ", i, " is of image ", index[i],
                                              ", which is outside of [0, ", s.batch, ")"));
  }
  return absl::OkStatus();
}

template <typename Element>
void CropBox(const Crop& s, const StepArgs& args, int64_t i, Element element) {
  const int64_t n = static_cast<const int32_t*>(args.in[2])[i];
  const Box box = BoxOf(s, static_cast<const float*>(args.in[1]), i, BoxAxis::Rounding::kImage);
  const auto at = [&](int64_t k) { return element.template As<float>(args.in[0], k); };
  auto* const crops = static_cast<float*>(args.out[0]);
  ForEachPixel(s, box, [&](int64_t r, int64_t c, const CropPlace& row, const CropPlace& column) {
    float* const out = crops + s.CropAt(i, r, c);
    if (!row.inside || !column.inside) {
      std::fill(out, out + s.channels, s.outside);
      return;
    }
    if (s.nearest) {
      const int64_t from = s.PixelAt(n, row.nearest, column.nearest);
      for (int64_t d = 0; d < s.channels; ++d) out[d] = at(from + d);
      return;
    }
    const int64_t top_left = s.PixelAt(n, row.lower, column.lower),
                  top_right = s.PixelAt(n, row.lower, column.upper),
                  bottom_left = s.PixelAt(n, row.upper, column.lower),
                  bottom_right = s.PixelAt(n, row.upper, column.upper);
    for (int64_t d = 0; d < s.channels; ++d) {
      const float top = at(top_left + d) + (at(top_right + d) - at(top_left + d)) * column.share;
      const float bottom =
          at(bottom_left + d) + (at(bottom_right + d) - at(bottom_left + d)) * column.share;
      out[d] = top + (bottom - top) * row.share;
    }
  });
}

template <typename Element>
void SpreadBox(const Crop& s, const StepArgs& args, int64_t i, Element element) {
  const int64_t n = static_cast<const int32_t*>(args.in[2])[i];
  const Box box = BoxOf(s, static_cast<const float*>(args.in[1]), i, BoxAxis::Rounding::kImage);
  const auto* const gradients = static_cast<const float*>(args.in[0]);
  ForEachPixel(s, box, [&](int64_t r, int64_t c, const CropPlace& row, const CropPlace& column) {
    if (!row.inside || !column.inside) return;
    const float* const gradient = gradients + s.CropAt(i, r, c);
    const auto add = [&](int64_t image_row, int64_t image_column, double weight) {
      const int64_t to = s.PixelAt(n, image_row, image_column);
      for (int64_t d = 0; d < s.channels; ++d) {
        const double before = element.template As<double>(args.out[0], to + d);
        element.Put(args.out[0], to + d, before + weight * gradient[d]);
      }
    };
    if (s.nearest) return add(row.nearest, column.nearest, 1);
    const double y = row.share, x = column.share;
    add(row.lower, column.lower, (1 - y) * (1 - x));
    add(row.lower, column.upper, (1 - y) * x);
    add(row.upper, column.lower, y * (1 - x));
    add(row.upper, column.upper, y * x);
  });
}

template <typename Element>
void BoxGradient(const Crop& s, const StepArgs& args, int64_t i, Element element) {
  const int64_t n = static_cast<const int32_t*>(args.in[3])[i];
  const Box box = BoxOf(s, static_cast<const float*>(args.in[2]), i, BoxAxis::Rounding::kBoxes);
  const auto* const gradients = static_cast<const float*>(args.in[0]);
  const auto at = [&](int64_t k) { return element.template As<double>(args.in[1], k); };
  double sums[4] = {};
  ForEachPixel(s, box, [&](int64_t r, int64_t c, const CropPlace& row, const CropPlace& column) {
    if (!row.inside || !column.inside) return;
    const int64_t top_left = s.PixelAt(n, row.lower, column.lower),
                  top_right = s.PixelAt(n, row.lower, column.upper),
                  bottom_left = s.PixelAt(n, row.upper, column.lower),
                  bottom_right = s.PixelAt(n, row.upper, column.upper);
    const double y = row.share, x = column.share;
    double down = 0, right = 0;  // the crop's gradient times the image's slopes
    for (int64_t d = 0; d < s.channels; ++d) {
      const double gradient = gradients[s.CropAt(i, r, c) + d];
      down += gradient * ((1 - x) * (at(bottom_left + d) - at(top_left + d)) +
                          x * (at(bottom_right + d) - at(top_right + d)));
      right += gradient * ((1 - y) * (at(top_right + d) - at(top_left + d)) +
                           y * (at(bottom_right + d) - at(bottom_left + d)));
    }
    sums[0] += down * box.rows.ByBegin(r);
    sums[1] += right * box.columns.ByBegin(c);
    sums[2] += down * box.rows.ByEnd(r);
    sums[3] += right * box.columns.ByEnd(c);
  });
  for (int k = 0; k < 4; ++k)
    static_cast<float*>(args.out[0])[4 * i + k] = static_cast<float>(sums[k]);
}

}  // namespace

absl::Status RunCrop(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Crop*>(state);
  TENON_RETURN_IF_ERROR(CheckIndices(s, args.in[2]));
  for (int64_t i = 0; i < 4 * s.boxes; ++i) {
    if (!std::isfinite(static_cast<const float*>(args.in[1])[i]))
      return absl::InvalidArgumentError(absl::StrCat("box ", i / 4, " is not finite"));
  }
  args.workers->ParallelFor(s.boxes, GrainFor(s.CropAt(1, 0, 0) * 16),
                            [&](int64_t begin, int64_t end) {
                              VisitElement(s.type, [&](auto element) {
                                for (int64_t i = begin; i < end; ++i) CropBox(s, args, i, element);
                              });
                            });
  return absl::OkStatus();
}

absl::Status RunImageGradient(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Crop*>(state);
  TENON_RETURN_IF_ERROR(CheckIndices(s, args.in[2]));
  const int64_t bytes = s.PixelAt(1, 0, 0) * static_cast<int64_t>(DataTypeSize(s.type));
  args.workers->ParallelFor(s.batch, 1, [&](int64_t begin, int64_t end) {
    // Threads share the images, not the boxes: boxes of one image may overlap, and their gradients
    // are added in the order of the boxes.
    memset(static_cast<char*>(args.out[0]) + begin * bytes, 0, (end - begin) * bytes);
    VisitFloat(s.type, [&](auto element) {
      for (int64_t i = 0; i < s.boxes; ++i) {
        const int64_t n = static_cast<const int32_t*>(args.in[2])[i];
        if (n >= begin && n < end) SpreadBox(s, args, i, element);
      }
    });
  });
  return absl::OkStatus();
}

absl::Status RunBoxGradient(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Crop*>(state);
  TENON_RETURN_IF_ERROR(CheckIndices(s, args.in[3]));
  args.workers->ParallelFor(s.boxes, GrainFor(s.CropAt(1, 0, 0) * 16),
                            [&](int64_t begin, int64_t end) {
                              VisitElement(s.type, [&](auto element) {
                                for (int64_t i = begin; i < end; ++i)
                                  BoxGradient(s, args, i, element);
                              });
                            });
  return absl::OkStatus();
}

}  // namespace tenon::cpu
