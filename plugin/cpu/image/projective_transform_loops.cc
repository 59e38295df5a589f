#include "plugin/cpu/image/projective_transform_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

// Beyond this, coordinates have no whole periods that one could take off, and no pixel is near.
constexpr float kFar = 1e15f;

// Where a coordinate comes to lie on an axis of `size` pixels; outside of it for kConstant only.
float Mapped(ProjectionFill fill, float at, int64_t size) {
  const float last = static_cast<float>(size - 1);
  if (fill == ProjectionFill::kConstant || std::isnan(at)) return at;
  if (size <= 1 && fill != ProjectionFill::kNearest) {
    at = 0;
  } else if (fill == ProjectionFill::kReflect && std::abs(at) < kFar) {  // [dcba|abcd|dcba]
    const auto period = static_cast<float>(2 * size);
    const auto whole = [&](float x) { return period * std::trunc(x / period); };
    if (at < 0) {
      at += whole(-at);
      at = at < -static_cast<float>(size) ? at + period : -at - 1;
    } else if (at > last) {
      at -= whole(at);
      if (at >= static_cast<float>(size)) at = period - at - 1;
    }
  } else if (fill == ProjectionFill::kWrap && std::abs(at) < kFar) {  // [abcd|abcd|abcd]
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

}  // namespace

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

}  // namespace tenon::cpu
