// ImageProjectiveTransformV2 and V3: each output pixel looks up where a projection takes it.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum class Fill { kConstant, kNearest, kReflect, kWrap };

struct Projection {
  DataType type;
  int64_t batch, rows, columns, channels;
  int64_t out_rows, out_columns;
  bool shared;  // one transform for all images
  bool has_fill_value;
  bool bilinear;
  Fill fill;
};

// Beyond this, coordinates have no whole periods that one could take off, and no pixel is near.
constexpr float kFar = 1e15f;

// Where a coordinate comes to lie on an axis of `size` pixels; outside of it for kConstant only.
float Mapped(Fill fill, float at, int64_t size) {
  const float last = static_cast<float>(size - 1);
  if (fill == Fill::kConstant || std::isnan(at)) return at;
  if (size <= 1 && fill != Fill::kNearest) {
    at = 0;
  } else if (fill == Fill::kReflect && std::abs(at) < kFar) {  // [dcba|abcd|dcba]
    const auto period = static_cast<float>(2 * size);
    const auto whole = [&](float x) { return period * std::trunc(x / period); };
    if (at < 0) {
      at += whole(-at);
      at = at < -static_cast<float>(size) ? at + period : -at - 1;
    } else if (at > last) {
      at -= whole(at);
      if (at >= static_cast<float>(size)) at = period - at - 1;
    }
  } else if (fill == Fill::kWrap && std::abs(at) < kFar) {  // [abcd|abcd|abcd]
    const auto period = static_cast<float>(size);
    if (at < 0) {
      at += period * (std::trunc(-at / last) + 1);
    } else if (at > last) {
      at -= period * std::trunc(at / last);
    }
  }
  return std::max(0.0f, std::min(at, last));
}

// A float as an element: integers take the whole part of it.
template <typename Element>
void PutFloat(void* out, int64_t i, float value, bool integer, Element element) {
  // Just below 2^63, beyond which the conversion is undefined.
  constexpr float kMost = 9.2e18f;
  if (integer) {
    element.Put(out, i, static_cast<int64_t>(std::max(-kMost, std::min(value, kMost))));
  } else {
    element.Put(out, i, value);
  }
}

template <typename Element>
void TransformRow(const Projection& s, const StepArgs& args, int64_t n, int64_t row,
                  Element element) {
  const float* const t = static_cast<const float*>(args.in[1]) + (s.shared ? 0 : 8 * n);
  const bool integer = HasType(kIntTypes, s.type);
  const auto bytes = static_cast<int64_t>(DataTypeSize(s.type));
  uint64_t fill = 0;  // the fill value as an element
  PutFloat(&fill, 0, s.has_fill_value ? *static_cast<const float*>(args.in[3]) : 0, integer,
           element);
  // A pixel's channel, or the fill value outside of the image.
  const auto pixel = [&](int64_t y, int64_t x, int64_t c) -> const void* {
    if (y < 0 || y >= s.rows || x < 0 || x >= s.columns) return &fill;
    const int64_t i = ((n * s.rows + y) * s.columns + x) * s.channels + c;
    return static_cast<const char*>(args.in[0]) + i * bytes;
  };
  const auto value = [&](int64_t y, int64_t x, int64_t c) {
    return element.template As<float>(pixel(y, x, c), 0);
  };
  const float v = static_cast<float>(row);
  int64_t out = (n * s.out_rows + row) * s.out_columns * s.channels;
  for (int64_t column = 0; column < s.out_columns; ++column) {
    const float u = static_cast<float>(column);
    const float depth = t[6] * u + t[7] * v + 1;
    const float x = Mapped(s.fill, (t[0] * u + t[1] * v + t[2]) / depth, s.columns);
    const float y = Mapped(s.fill, (t[3] * u + t[4] * v + t[5]) / depth, s.rows);
    const bool near = depth != 0 && std::abs(x) < kFar && std::abs(y) < kFar;
    for (int64_t c = 0; c < s.channels; ++c, ++out) {
      if (!near || !s.bilinear) {
        const void* const from = near ? pixel(static_cast<int64_t>(std::round(y)),
                                              static_cast<int64_t>(std::round(x)), c)
                                      : &fill;
        memcpy(static_cast<char*>(args.out[0]) + out * bytes, from, bytes);
        continue;
      }
      const auto top = static_cast<int64_t>(std::floor(y)),
                 left = static_cast<int64_t>(std::floor(x));
      const float right_share = x - std::floor(x), bottom_share = y - std::floor(y);
      const float left_share = 1 - right_share, top_share = 1 - bottom_share;
      const float above = left_share * value(top, left, c) + right_share * value(top, left + 1, c);
      const float below =
          left_share * value(top + 1, left, c) + right_share * value(top + 1, left + 1, c);
      PutFloat(args.out[0], out, top_share * above + bottom_share * below, integer, element);
    }
  }
}

absl::Status RunProjection(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Projection*>(state);
  args.workers->ParallelFor(s.batch * s.out_rows, GrainFor(s.out_columns * s.channels * 32),
                            [&](int64_t begin, int64_t end) {
                              VisitElement(s.type, [&](auto element) {
                                for (int64_t t = begin; t < end; ++t)
                                  TransformRow(s, args, t / s.out_rows, t % s.out_rows, element);
                              });
                            });
  return absl::OkStatus();
}

absl::StatusOr<Fill> ReadFill(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, p.AttrString("fill_mode"));
  if (mode == "CONSTANT") return Fill::kConstant;
  if (mode == "NEAREST") return Fill::kNearest;
  if (mode == "REFLECT") return Fill::kReflect;
  if (mode == "WRAP") return Fill::kWrap;
  return p.Invalid(
      absl::StrCat("fill_mode '", mode, "' is none of CONSTANT, NEAREST, REFLECT, WRAP"));
}

absl::Status PrepareProjection(Prepare& p) {
  const Shape &images = p.input_shape(0), &transforms = p.input_shape(1);
  if (images.rank() != 4)
    return p.Invalid(absl::StrCat("the images must have rank 4, not ", images.ToString()));
  if (transforms.rank() != 2 || transforms.dim(1) != 8 ||
      (transforms.dim(0) != 1 && transforms.dim(0) != images.dim(0))) {
    return p.Invalid(absl::StrCat("the transforms must have shape [1,8] or [", images.dim(0),
                                  ",8], not ", transforms.ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(2));
  if (size.size() != 2 || size[0] <= 0 || size[1] <= 0)
    return p.Invalid("output_shape must be a vector of 2 positive numbers");
  auto s = std::make_shared<Projection>();
  s->has_fill_value = p.num_inputs() == 4;
  if (s->has_fill_value && p.input_shape(3).rank() != 0)
    return p.Invalid("fill_value must be a scalar");
  TENON_ASSIGN_OR_RETURN(const std::string_view interpolation, p.AttrString("interpolation"));
  if (interpolation != "NEAREST" && interpolation != "BILINEAR") {
    return p.Invalid(
        absl::StrCat("interpolation '", interpolation, "' is neither NEAREST nor BILINEAR"));
  }
  s->bilinear = interpolation == "BILINEAR";
  TENON_ASSIGN_OR_RETURN(s->fill, ReadFill(p));
  s->type = p.input_type(0);
  s->batch = images.dim(0);
  s->rows = images.dim(1);
  s->columns = images.dim(2);
  s->channels = images.dim(3);
  s->out_rows = size[0];
  s->out_columns = size[1];
  s->shared = transforms.dim(0) == 1;
  TENON_ASSIGN_OR_RETURN(Shape output, CheckedShape(p, {s->batch, size[0], size[1], s->channels}));
  p.set_output_shape(0, std::move(output));
  p.set_run(&RunProjection, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kTransformTypes =
    kFloatTypes | TypeBits(DataType::kUint8, DataType::kInt32, DataType::kInt64);

const CpuKernelSpec kProjectionKernels[] = {
    {"ImageProjectiveTransformV2", {{"dtype", kTransformTypes}}, &PrepareProjection, 0b100},
    {"ImageProjectiveTransformV3", {{"dtype", kTransformTypes}}, &PrepareProjection, 0b100},
};

}  // namespace

absl::Span<const CpuKernelSpec> ProjectionKernels() { return kProjectionKernels; }

}  // namespace tenon::cpu
