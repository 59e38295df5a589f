// Colour spaces and adjustments: RGBToHSV, HSVToRGB, AdjustHue, AdjustSaturation, AdjustContrast.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

template <typename A>
using Color = std::array<A, 3>;

// Hue, saturation and value, each in [0, 1] for colours in [0, 1], where the largest and the least
// component are known: ops differ in what these are beside NaN.
template <typename A>
Color<A> HsvFromRgb(const Color<A>& rgb, A value, A least) {
  const auto [r, g, b] = rgb;
  const A range = value - least;
  const A saturation = value > 0 ? range / value : 0;
  if (!(range > 0)) return {0, saturation, value};
  const A norm = 1 / range / 6;
  A hue = r == value   ? norm * (g - b)
          : g == value ? norm * (b - r) + A{2} / 6
                       : norm * (r - g) + A{4} / 6;
  if (hue < 0) hue += 1;
  return {hue, saturation, value};
}

// The largest and the least start anew after NaN.
template <typename A>
Color<A> ConvertToHsv(const Color<A>& rgb) {
  const auto most = [](A a, A b) { return a > b ? a : b; };
  const auto least = [](A a, A b) { return a < b ? a : b; };
  const auto [r, g, b] = rgb;
  return HsvFromRgb(rgb, most(most(r, g), b), least(least(r, g), b));
}

template <typename A>
Color<A> RgbFromHsv(const Color<A>& hsv) {
  const auto [hue, saturation, value] = hsv;
  const A angle = hue * 6;
  const auto channel = [&, s = saturation, v = value](A share) {
    return (1 - s + s * std::clamp<A>(share, 0, 1)) * v;
  };
  return {channel(std::abs(angle - 3) - 1), channel(2 - std::abs(angle - 2)),
          channel(2 - std::abs(angle - 4))};
}

// The colour turned by `turns` around the axis of greys.
Color<float> TurnHue(const Color<float>& rgb, float turns) {
  const auto [r, g, b] = rgb;
  const float most = std::max({r, g, b}), least = std::min({r, g, b});
  float hue = 0;  // in sixths
  if (most > least) {
    const float range = most - least;
    hue = r == most   ? (g >= b ? (g - b) / range : 6 - (b - g) / range)
          : g == most ? 2 + (b - r) / range
                      : 4 + (r - g) / range;
  }
  hue = std::fmod(hue + std::fmod(turns, 1.0f) * 6, 6.0f);
  if (std::isnan(hue)) return {hue, hue, hue};
  if (hue < 0) hue += 6;
  if (hue >= 6) hue = 0;
  const int sixth = static_cast<int>(hue);
  const float share = hue - static_cast<float>(sixth);
  const float middle = least + (sixth % 2 == 0 ? share : 1 - share) * (most - least);
  switch (sixth) {
    case 0:
      return {most, middle, least};
    case 1:
      return {middle, most, least};
    case 2:
      return {least, most, middle};
    case 3:
      return {least, middle, most};
    case 4:
      return {middle, least, most};
    default:
      return {most, least, middle};
  }
}

Color<float> ScaleSaturation(const Color<float>& rgb, float scale) {
  const auto [r, g, b] = rgb;
  Color<float> hsv = HsvFromRgb(rgb, std::max({r, g, b}), std::min({r, g, b}));
  hsv[1] = std::min(1.0f, std::max(0.0f, hsv[1] * scale));
  // Hues of colours outside of [0, 1] may leave the circle: TensorFlow then keeps the darkest
  // shade.
  if (!(hsv[0] >= 0 && hsv[0] < 1)) {
    const float shade = hsv[2] - hsv[1] * hsv[2];
    return {shade, shade, shade};
  }
  return RgbFromHsv(hsv);
}

struct Pixels {
  int64_t count;
  DataType type;
};

template <typename A, typename Element, typename F>
void MapColors(const Pixels& s, const StepArgs& args, Element element, F f) {
  args.workers->ParallelFor(s.count, GrainFor(64), [&](int64_t begin, int64_t end) {
    for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
      const Color<A> color = f(Color<A>{element.template As<A>(args.in[0], i),
                                        element.template As<A>(args.in[0], i + 1),
                                        element.template As<A>(args.in[0], i + 2)});
      for (int c = 0; c < 3; ++c) element.Put(args.out[0], i + c, color[c]);
    }
  });
}

// Double is computed in double, everything else in float.
template <typename F>
absl::Status RunConversion(const void* state, const StepArgs& args, F convert) {
  const auto& s = *static_cast<const Pixels*>(state);
  VisitFloat(s.type, [&](auto element) {
    using Work =
        std::conditional_t<std::is_same_v<decltype(element), PlainElement<double>>, double, float>;
    MapColors<Work>(s, args, element, convert);
  });
  return absl::OkStatus();
}

absl::Status RunRgbToHsv(const void* state, const StepArgs& args) {
  return RunConversion(state, args, [](const auto& rgb) { return ConvertToHsv(rgb); });
}

absl::Status RunHsvToRgb(const void* state, const StepArgs& args) {
  return RunConversion(state, args, [](const auto& hsv) { return RgbFromHsv(hsv); });
}

template <Color<float> (*kAdjust)(const Color<float>&, float)>
absl::Status RunAdjust(const void* state, const StepArgs& args) {
  const float amount = *static_cast<const float*>(args.in[1]);
  MapColors<float>(*static_cast<const Pixels*>(state), args, PlainElement<float>(),
                   [&](const Color<float>& rgb) { return kAdjust(rgb, amount); });
  return absl::OkStatus();
}

absl::Status PreparePixels(Prepare& p, int least_rank, RunFn run) {
  const Shape& shape = p.input_shape(0);
  if (shape.rank() < least_rank || shape.dim(shape.rank() - 1) != 3) {
    absl::Status wrong =
        p.Invalid(absl::StrCat("the images must have rank ", least_rank,
                               " at least and 3 channels, not the shape ", shape.ToString()));
    // TensorFlow has this code where any rank will do.
    if (least_rank > 1 || shape.rank() == 0) return wrong;
    return absl::FailedPreconditionError(wrong.message());
  }
  TENON_RETURN_IF_ERROR(CheckScalars(p, 1, p.num_inputs()));
  p.set_output_shape(0, shape);
  p.AllowInPlace(0, 0);
  p.set_run(run, std::make_shared<Pixels>(Pixels{shape.num_elements() / 3, p.input_type(0)}));
  return absl::OkStatus();
}

template <RunFn kRun>
absl::Status PrepareConversion(Prepare& p) {
  return PreparePixels(p, 1, kRun);
}
template <Color<float> (*kAdjust)(const Color<float>&, float)>
absl::Status PrepareAdjust(Prepare& p) {
  return PreparePixels(p, 3, &RunAdjust<kAdjust>);
}

// --- Contrast.

struct Contrast {
  DataType type;
  int64_t images, pixels, channels;
  bool limited;  // AdjustContrast has the limits of its results as inputs 2 and 3
};

// Moves one channel of one image away from its mean.
template <typename Element>
void AdjustChannel(const Contrast& s, const StepArgs& args, int64_t first, Element element) {
  const double factor = *static_cast<const float*>(args.in[1]);
  const int64_t end = first + s.pixels * s.channels;
  double mean = 0;
  for (int64_t i = first; i < end; i += s.channels)
    mean += element.template As<double>(args.in[0], i);
  mean /= static_cast<double>(s.pixels);
  const auto limit = [&](int input, float none) {
    return s.limited ? *static_cast<const float*>(args.in[input]) : none;
  };
  const float least = limit(2, -std::numeric_limits<float>::infinity()),
              most = limit(3, std::numeric_limits<float>::infinity());
  for (int64_t i = first; i < end; i += s.channels) {
    const auto value =
        static_cast<float>(mean + factor * (element.template As<double>(args.in[0], i) - mean));
    static_cast<float*>(args.out[0])[i] = std::max(std::min(value, most), least);
  }
}

absl::Status RunContrast(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Contrast*>(state);
  const int64_t image = s.pixels * s.channels;
  args.workers->ParallelFor(
      s.images * s.channels, GrainFor(s.pixels * 8), [&](int64_t begin, int64_t end) {
        VisitElement(s.type, [&](auto element) {
          for (int64_t t = begin; t < end; ++t)
            AdjustChannel(s, args, t / s.channels * image + t % s.channels, element);
        });
      });
  return absl::OkStatus();
}

absl::Status PrepareContrast(Prepare& p) {
  const Shape& shape = p.input_shape(0);
  const int rank = shape.rank();
  if (rank < 3)
    return p.Invalid(absl::StrCat("the images must have rank 3 at least, not ", shape.ToString()));
  TENON_RETURN_IF_ERROR(CheckScalars(p, 1, p.num_inputs()));
  p.set_output_shape(0, shape);
  if (shape.num_elements() == 0) return absl::OkStatus();
  auto s = std::make_shared<Contrast>();
  s->type = p.input_type(0);
  s->channels = shape.dim(rank - 1);
  s->pixels = shape.dim(rank - 2) * shape.dim(rank - 3);
  s->images = DimProduct(shape, 0, rank - 3);
  s->limited = p.num_inputs() == 4;
  p.set_run(&RunContrast, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kFloatOnly = TypeBit(DataType::kFloat);
constexpr uint64_t kContrastTypes = TypeBits(DataType::kUint8, DataType::kInt8, DataType::kInt16,
                                             DataType::kInt32, DataType::kFloat, DataType::kDouble);

const CpuKernelSpec kColorKernels[] = {
    {"RGBToHSV", {{"T", kFloatTypes}}, &PrepareConversion<&RunRgbToHsv>},
    {"HSVToRGB", {{"T", kFloatTypes}}, &PrepareConversion<&RunHsvToRgb>},
    {"AdjustHue", {{"T", kFloatOnly}}, &PrepareAdjust<&TurnHue>},
    {"AdjustSaturation", {{"T", kFloatOnly}}, &PrepareAdjust<&ScaleSaturation>},
    {"AdjustContrast", {{"T", kContrastTypes}}, &PrepareContrast},
    {"AdjustContrastv2", {{"T", kFloatOnly}}, &PrepareContrast},
};

}  // namespace

absl::Span<const CpuKernelSpec> ColorKernels() { return kColorKernels; }

}  // namespace tenon::cpu
