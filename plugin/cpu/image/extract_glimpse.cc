// ExtractGlimpse and ExtractGlimpseV2: a window of each image, with noise where it leaves the
// image.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum class Noise { kZero, kUniform, kGaussian };

struct Glimpse {
  int64_t batch, rows, columns, channels;
  int64_t out_rows, out_columns;
  int version;
  bool centered, normalized;
  Noise noise;
  std::shared_ptr<GeneratorState> generator;
};

// The first pixel of a window of `window` pixels. The first version always took the offset for the
// window's centre and, if centered, half of it for the distance from the image's.
float FirstPixel(const Glimpse& s, float offset, int64_t image, int64_t window) {
  const auto size = static_cast<float>(image);
  const float half_window = static_cast<float>(window) / 2;
  if (s.normalized) offset *= size;
  if (s.version == 1) return (s.centered ? (offset + size) / 2 : offset) - half_window;
  if (!s.centered) return offset;
  return s.normalized ? offset / 2 + size / 2 - half_window : offset + size / 2;
}

// One axis of a window: the pixels of which lie inside of the image.
struct Overlap {
  int64_t first;
  int64_t begin, end;
};
Overlap OverlapOf(const Glimpse& s, float offset, int64_t image, int64_t window) {
  // Windows further away than this see nothing of any image.
  constexpr float kFar = 1e15f;
  const float at = FirstPixel(s, offset, image, window);
  if (!(std::abs(at) < kFar)) return {0, 0, 0};
  const auto first = static_cast<int64_t>(at);
  const int64_t begin = std::clamp<int64_t>(-first, 0, window);
  return {first, begin, std::clamp<int64_t>(image - first, begin, window)};
}

// What a channel's noise looks like.
struct Statistics {
  float least = 0, most = 0, mean = 0, deviation = 0;
};

// Of `count` values from `values` on, each `step` after the last.
Statistics StatisticsOf(const float* values, int64_t count, int64_t step) {
  Statistics result{values[0], values[0]};
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float x = values[i * step];
    result.least = std::min(result.least, x);
    result.most = std::max(result.most, x);
    sum += x;
  }
  const double mean = sum / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i)
    squares += (values[i * step] - mean) * (values[i * step] - mean);
  result.mean = static_cast<float>(mean);
  result.deviation = static_cast<float>(std::sqrt(squares / static_cast<double>(count)));
  return result;
}

// Uniform between the extremes of the image, or normal with the moments and within the extremes of
// the channel.
void FillWithNoise(const Glimpse& s, const float* image, Philox philox, float* out) {
  const int64_t pixels = s.rows * s.columns, count = s.out_rows * s.out_columns;
  const Statistics all = StatisticsOf(image, pixels * s.channels, 1);
  for (int64_t c = 0; c < s.channels; ++c) {
    const Statistics channel = StatisticsOf(image + c, pixels, s.channels);
    for (int64_t i = 0; i < count; ++i) {
      const PhiloxWords words = philox.Next();
      const float u = UniformFloat(words[0]);
      const float z = BoxMuller(u, UniformFloat(words[1]))[0];
      out[i * s.channels + c] =
          s.noise == Noise::kUniform
              ? all.least + u * (all.most - all.least)
              : std::clamp(channel.mean + z * channel.deviation, channel.least, channel.most);
    }
  }
}

void CopyGlimpse(const Glimpse& s, const float* image, const float* offsets, Philox philox,
                 float* out) {
  const Overlap rows = OverlapOf(s, offsets[0], s.rows, s.out_rows),
                columns = OverlapOf(s, offsets[1], s.columns, s.out_columns);
  const int64_t seen = (rows.end - rows.begin) * (columns.end - columns.begin);
  const int64_t count = s.out_rows * s.out_columns;
  if (seen < count) {
    std::fill(out, out + count * s.channels, 0.0f);
    if (s.noise != Noise::kZero && s.rows * s.columns > 0) FillWithNoise(s, image, philox, out);
  }
  if (seen == 0) return;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* const from =
        image + ((rows.first + r) * s.columns + columns.first + columns.begin) * s.channels;
    std::copy(from, from + (columns.end - columns.begin) * s.channels,
              out + (r * s.out_columns + columns.begin) * s.channels);
  }
}

absl::Status RunGlimpse(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Glimpse*>(state);
  const int64_t image = s.rows * s.columns * s.channels;
  const int64_t glimpse = s.out_rows * s.out_columns * s.channels;
  const Philox philox = s.generator->Reserve(static_cast<uint64_t>(s.batch * glimpse));
  args.workers->ParallelFor(s.batch, GrainFor(glimpse * 4), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      Philox own = philox;
      own.Skip(static_cast<uint64_t>(n) * glimpse);
      CopyGlimpse(s, static_cast<const float*>(args.in[0]) + n * image,
                  static_cast<const float*>(args.in[2]) + 2 * n, own,
                  static_cast<float*>(args.out[0]) + n * glimpse);
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<Noise> ReadNoise(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const bool uniform, p.AttrBool("uniform_noise"));
  TENON_ASSIGN_OR_RETURN(const std::string_view name, p.AttrString("noise"));
  if (uniform && !name.empty() && name != "uniform")
    return p.Invalid(absl::StrCat("uniform_noise and noise '", name, "' exclude each other"));
  if (name == "uniform" || (name.empty() && uniform)) return Noise::kUniform;
  if (name == "gaussian" || name.empty()) return Noise::kGaussian;
  if (name == "zero") return Noise::kZero;
  return p.Invalid(absl::StrCat("noise '", name, "' is none of uniform, gaussian, zero"));
}

template <int kVersion>
absl::Status PrepareGlimpse(Prepare& p) {
  const Shape &images = p.input_shape(0), &offsets = p.input_shape(2);
  if (images.rank() != 4)
    return p.Invalid(absl::StrCat("the images must have rank 4, not ", images.ToString()));
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(1));
  if (!(p.input_shape(1) == Shape({2})))
    return p.Invalid("the size must be a vector of 2, rows and columns");
  if (!(offsets == Shape({images.dim(0), 2}))) {
    return p.Invalid(absl::StrCat("the offsets must have shape [", images.dim(0), ",2], not ",
                                  offsets.ToString()));
  }
  auto s = std::make_shared<Glimpse>();
  s->batch = images.dim(0);
  s->rows = images.dim(1);
  s->columns = images.dim(2);
  s->channels = images.dim(3);
  s->version = kVersion;
  TENON_ASSIGN_OR_RETURN(s->centered, p.AttrBool("centered"));
  TENON_ASSIGN_OR_RETURN(s->normalized, p.AttrBool("normalized"));
  TENON_ASSIGN_OR_RETURN(s->noise, ReadNoise(p));
  TENON_ASSIGN_OR_RETURN(Shape output, CheckedShape(p, {s->batch, size[0], size[1], s->channels}));
  s->out_rows = size[0];
  s->out_columns = size[1];
  s->generator = GeneratorOf(p, 0, 0);
  p.set_output_shape(0, output);
  if (output.num_elements() > 0) p.set_run(&RunGlimpse, std::move(s));
  return absl::OkStatus();
}

const CpuKernelSpec kGlimpseKernels[] = {
    {"ExtractGlimpse", {}, &PrepareGlimpse<1>, 0b10, true},
    {"ExtractGlimpseV2", {}, &PrepareGlimpse<2>, 0b10, true},
};

}  // namespace

absl::Span<const CpuKernelSpec> GlimpseKernels() { return kGlimpseKernels; }

}  // namespace tenon::cpu
