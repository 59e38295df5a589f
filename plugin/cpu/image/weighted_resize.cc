// ResizeArea, ResizeBicubic, ScaleAndTranslate and the gradients of all resizes: sums of weighted
// rows, then of weighted columns.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/image/resize_axis.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct WeightedResize {
  DataType in_type, out_type;
  int64_t batch, channels;
  ResizeAxis rows, columns;

  int64_t line() const { return columns.in() * channels; }
};

template <typename Element>
void AddRow(const void* in, int64_t first, int64_t n, double weight, double* sums,
            Element element) {
  for (int64_t i = 0; i < n; ++i) sums[i] += weight * element.template As<double>(in, first + i);
}

// One row of the output from the weighted sum of input rows. Integers wrap around.
template <typename Element>
void StoreRow(const WeightedResize& s, const double* sums, void* out, int64_t first, bool integer,
              Element element) {
  for (int64_t j = 0; j < s.columns.out(); ++j) {
    for (int64_t c = 0; c < s.channels; ++c) {
      double sum = 0;
      for (const ResizeAxis::Tap& tap : s.columns.TapsOf(j))
        sum += static_cast<double>(tap.weight) * sums[tap.index * s.channels + c];
      const int64_t i = first + j * s.channels + c;
      integer ? element.Put(out, i, static_cast<int64_t>(sum)) : element.Put(out, i, sum);
    }
  }
}

absl::Status RunWeighted(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const WeightedResize*>(state);
  const bool integer = HasType(kIntTypes, s.out_type);
  return ForEachTile(
      args, s.batch * s.rows.out(), s.line() * sizeof(double), [&](int64_t t, char* scratch) {
        double* const sums = reinterpret_cast<double*>(scratch);
        std::fill(sums, sums + s.line(), 0.0);
        const int64_t image = t / s.rows.out() * s.rows.in();
        VisitElement(s.in_type, [&](auto element) {
          for (const ResizeAxis::Tap& tap : s.rows.TapsOf(t % s.rows.out())) {
            AddRow(args.in[0], (image + tap.index) * s.line(), s.line(), tap.weight, sums, element);
          }
        });
        VisitElement(s.out_type, [&](auto element) {
          StoreRow(s, sums, args.out[0], t * s.columns.out() * s.channels, integer, element);
        });
        return absl::OkStatus();
      });
}

// Adds a row of the images to a row of the result, whose weight is `weight`.
void AddFloatTerms(const WeightedResize& s, const float* from, float weight, double* out) {
  for (int64_t j = 0; j < s.columns.out(); ++j) {
    for (const ResizeAxis::Tap& tap : s.columns.TapsOf(j)) {
      for (int64_t c = 0; c < s.channels; ++c) {
        const float term = from[tap.index * s.channels + c] * weight * tap.weight;
        out[j * s.channels + c] += static_cast<double>(term);
      }
    }
  }
}

// Gives a double result of floats. As in TensorFlow's gradient of bilinear resizing, each term is a
// product of floats, which is rounded, and only the sum is wide.
absl::Status RunFloatTerms(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const WeightedResize*>(state);
  const auto* const in = static_cast<const float*>(args.in[0]);
  const int64_t width = s.columns.out() * s.channels;
  const auto row = [&](int64_t t) {
    double* const out = static_cast<double*>(args.out[0]) + t * width;
    std::fill(out, out + width, 0.0);
    const int64_t image = t / s.rows.out() * s.rows.in();
    for (const ResizeAxis::Tap& tap : s.rows.TapsOf(t % s.rows.out()))
      AddFloatTerms(s, in + (image + tap.index) * s.line(), tap.weight, out);
  };
  args.workers->ParallelFor(s.batch * s.rows.out(), GrainFor(s.line() * 16),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t t = begin; t < end; ++t) row(t);
                            });
  return absl::OkStatus();
}

absl::Status Install(Prepare& p, const Shape& images, ResizeAxis rows, ResizeAxis columns,
                     bool float_terms = false) {
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, {images.dim(0), rows.out(),
                                                              columns.out(), images.dim(3)}));
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  auto s = std::make_shared<WeightedResize>(WeightedResize{p.input_type(0), p.output_type(0),
                                                           images.dim(0), images.dim(3),
                                                           std::move(rows), std::move(columns)});
  if (float_terms && s->out_type == DataType::kDouble) {
    p.set_run(&RunFloatTerms, std::move(s));
    return absl::OkStatus();
  }
  p.set_scratch_bytes(
      TileScratchBytes(p.workers(), s->batch * s->rows.out(), s->line() * sizeof(double)));
  p.set_run(&RunWeighted, std::move(s));
  return absl::OkStatus();
}

template <MakeAxis kAxis>
absl::Status PrepareForward(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const ResizeProblem problem, ReadResize(p));
  const Shape &in = problem.images, &out = problem.output;
  if (in.dim(3) == 0) return p.Invalid("the images must have channels");
  return Install(p, in, kAxis(problem.scaling, in.dim(1), out.dim(1)),
                 kAxis(problem.scaling, in.dim(2), out.dim(2)));
}

// The axis of the gradient of a resize from `in` to `out`. TensorFlow does not align the corners of
// a single pixel here, which is visible in how weights are rounded.
template <MakeAxis kAxis>
ResizeAxis GradientAxis(Scaling scaling, int64_t in, int64_t out) {
  if (in == 1) scaling.align_corners = false;
  return kAxis(scaling, in, out).Transposed();
}

// Input 1 of the gradients is the original image.
template <MakeAxis kAxis, bool kFloatTerms>
absl::Status PrepareGradient(Prepare& p) {
  const Shape &gradients = p.input_shape(0), &original = p.input_shape(1);
  TENON_RETURN_IF_ERROR(CheckImages(p, gradients));
  TENON_RETURN_IF_ERROR(CheckImages(p, original));
  TENON_ASSIGN_OR_RETURN(const Scaling scaling, ReadScaling(p));
  return Install(p, gradients, GradientAxis<kAxis>(scaling, original.dim(1), gradients.dim(1)),
                 GradientAxis<kAxis>(scaling, original.dim(2), gradients.dim(2)), kFloatTerms);
}

// Input 1 of this one is the original size.
absl::Status PrepareNearestGradient(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const ResizeProblem problem, ReadResize(p, /*takes_both=*/true));
  const Shape &gradients = problem.images, &original = problem.output;
  return Install(p, gradients,
                 NearestAxis(problem.scaling, original.dim(1), gradients.dim(1)).Transposed(),
                 NearestAxis(problem.scaling, original.dim(2), gradients.dim(2)).Transposed());
}

// --- ScaleAndTranslate.

constexpr float kPi = 3.14159265359f;

// A sinc, times a wider sinc that ends at the radius.
float Lanczos(float radius, float x) {
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

// A sampling kernel at distance x >= 0 from its centre.
struct SamplingKernel {
  std::string_view name;
  float radius;
  float (*weight)(float x);
};

// The kernels of TensorFlow. The Gaussian has a standard deviation of 1/2. "keyscubic" is Keys'
// with a = -1/2, "mitchellcubic" that of Mitchell and Netravali with B = C = 1/3.
const SamplingKernel kSamplingKernels[] = {
    {"lanczos1", 1, [](float x) { return Lanczos(1, x); }},
    {"lanczos3", 3, [](float x) { return Lanczos(3, x); }},
    {"lanczos5", 5, [](float x) { return Lanczos(5, x); }},
    {"gaussian", 1.5f, [](float x) { return x >= 1.5f ? 0 : std::exp(-x * x / 0.5f); }},
    {"box", 1, [](float x) { return x < 0.5f    ? 1.0f
                                    : x == 0.5f ? 0.5f
                                                : 0.0f; }},
    {"triangle", 1, [](float x) { return std::max(1 - x, 0.0f); }},
    {"keyscubic", 2,
     [](float x) {
       if (x >= 2) return 0.0f;
       if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f;
       return (1.5f * x - 2.5f) * x * x + 1.0f;
     }},
    {"mitchellcubic", 2,
     [](float x) {
       if (x >= 2) return 0.0f;
       if (x >= 1) return ((-7.0f / 18 * x + 2.0f) * x - 10.0f / 3) * x + 16.0f / 9;
       return (7.0f / 6 * x - 2.0f) * x * x + 8.0f / 9;
     }},
};

struct Sampling {
  const SamplingKernel* kernel;
  bool antialias;
};

// Output i is sampled at (i + 0.5 - translation) / scale; what lies outside of the input is 0.
ResizeAxis SampledAxis(const Sampling& sampling, int64_t in, int64_t out, float scale,
                       float translation) {
  const float inverse = 1.0f / scale, offset = -inverse * translation;
  const float widening = sampling.antialias ? std::max(inverse, 1.0f) : 1.0f;
  const float reach = sampling.kernel->radius * widening;
  const auto inside = [in](float i) {
    return static_cast<int64_t>(std::clamp(i, 0.0f, static_cast<float>(in - 1)));
  };
  ResizeAxis axis(in);
  std::vector<float> weights;
  for (int64_t i = 0; i < out; ++i, axis.EndOutput()) {
    const float at = (static_cast<float>(i) + 0.5f) * inverse + offset;
    if (!(at >= 0 && at <= static_cast<float>(in))) continue;
    const int64_t first = inside(std::ceil(at - reach - 0.5f)),
                  last = inside(std::floor(at + reach - 0.5f));
    weights.clear();
    float sum = 0;
    for (int64_t k = first; k <= last; ++k) {
      const float distance = std::abs((static_cast<float>(k) + 0.5f - at) / widening);
      weights.push_back(sampling.kernel->weight(distance));
      sum += weights.back();
    }
    if (!(std::abs(sum) >= 1000 * std::numeric_limits<float>::min())) continue;
    for (int64_t k = first; k <= last; ++k) axis.AddTap(k, weights[k - first] / sum);
  }
  return axis;
}

absl::StatusOr<Sampling> ReadSampling(const Prepare& p) {
  Sampling sampling;
  TENON_ASSIGN_OR_RETURN(const std::string_view name, p.AttrString("kernel_type"));
  TENON_ASSIGN_OR_RETURN(sampling.antialias, p.AttrBool("antialias"));
  sampling.kernel = std::find_if(std::begin(kSamplingKernels), std::end(kSamplingKernels),
                                 [&](const SamplingKernel& k) { return k.name == name; });
  if (sampling.kernel == std::end(kSamplingKernels))
    return p.Invalid(absl::StrCat("there is no kernel_type '", name, "'"));
  return sampling;
}

// Value input i: a number for the rows and one for the columns.
absl::StatusOr<std::array<float, 2>> TwoFloats(const Prepare& p, int i) {
  if (!(p.input_shape(i) == Shape({2}))) {
    return p.Invalid(absl::StrCat("input ", i, " must be a vector of 2, not of shape ",
                                  p.input_shape(i).ToString()));
  }
  std::array<float, 2> values;
  memcpy(values.data(), p.input_value(i)->data(), sizeof(values));
  return values;
}

// The axes from images [.., in[0], in[1], ..] to [.., out[0], out[1], ..]; scale and translation
// are inputs 2 and 3.
absl::StatusOr<std::array<ResizeAxis, 2>> SampledAxes(const Prepare& p, std::array<int64_t, 2> in,
                                                      std::array<int64_t, 2> out) {
  TENON_ASSIGN_OR_RETURN(const Sampling sampling, ReadSampling(p));
  TENON_ASSIGN_OR_RETURN(const auto scale, TwoFloats(p, 2));
  TENON_ASSIGN_OR_RETURN(const auto translation, TwoFloats(p, 3));
  if (!(scale[0] > 0 && scale[1] > 0)) {
    return p.Invalid(
        absl::StrCat("the scales must be greater than 0, not ", scale[0], " and ", scale[1]));
  }
  return std::array<ResizeAxis, 2>{SampledAxis(sampling, in[0], out[0], scale[0], translation[0]),
                                   SampledAxis(sampling, in[1], out[1], scale[1], translation[1])};
}

absl::Status PrepareScaleAndTranslate(Prepare& p) {
  const Shape& images = p.input_shape(0);
  TENON_RETURN_IF_ERROR(CheckImages(p, images));
  if (images.dim(3) == 0) return p.Invalid("the images must have channels");
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(1));
  if (size.size() != 2 || size[0] <= 0 || size[1] <= 0)
    return p.Invalid("the new size must be a vector of 2 positive numbers");
  TENON_RETURN_IF_ERROR(CheckImages(p, Shape({images.dim(0), size[0], size[1], images.dim(3)})));
  TENON_ASSIGN_OR_RETURN(auto axes,
                         SampledAxes(p, {images.dim(1), images.dim(2)}, {size[0], size[1]}));
  return Install(p, images, std::move(axes[0]), std::move(axes[1]));
}

absl::Status PrepareScaleAndTranslateGradient(Prepare& p) {
  const Shape &gradients = p.input_shape(0), &original = p.input_shape(1);
  TENON_RETURN_IF_ERROR(CheckImages(p, gradients));
  TENON_RETURN_IF_ERROR(CheckImages(p, original));
  TENON_ASSIGN_OR_RETURN(auto axes, SampledAxes(p, {original.dim(1), original.dim(2)},
                                                {gradients.dim(1), gradients.dim(2)}));
  return Install(p, gradients, axes[0].Transposed(), axes[1].Transposed());
}

constexpr uint64_t kNearestGradientTypes =
    kFloatTypes | TypeBits(DataType::kUint8, DataType::kInt8, DataType::kInt32);
constexpr uint64_t kCubicGradientTypes = TypeBits(DataType::kFloat, DataType::kDouble);

const CpuKernelSpec kWeightedResizeKernels[] = {
    {"ResizeArea", {{"T", kRealTypes}}, &PrepareForward<&AreaAxis>, 0b10},
    {"ResizeBicubic", {{"T", kRealTypes}}, &PrepareForward<&CubicAxis>, 0b10},
    {"ScaleAndTranslate", {{"T", kRealTypes}}, &PrepareScaleAndTranslate, 0b1110},
    {"ResizeNearestNeighborGrad", {{"T", kNearestGradientTypes}}, &PrepareNearestGradient, 0b10},
    {"ResizeBilinearGrad", {{"T", kFloatTypes}}, &PrepareGradient<&BilinearAxis, true>},
    {"ResizeBicubicGrad", {{"T", kCubicGradientTypes}}, &PrepareGradient<&CubicAxis, false>},
    {"ScaleAndTranslateGrad",
     {{"T", TypeBit(DataType::kFloat)}},
     &PrepareScaleAndTranslateGradient,
     0b1100},
};

}  // namespace

absl::Span<const CpuKernelSpec> WeightedResizeKernels() { return kWeightedResizeKernels; }

}  // namespace tenon::cpu
