// BatchNormWithGlobalNormalization, y = (x - mean) / sqrt(variance + epsilon) (* gamma) + beta with
// given statistics, and its gradient.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/normalization/channel_sums.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum GlobalNormInput { kGlobalX, kGlobalMean, kGlobalVariance, kGlobalBeta, kGlobalGamma };
enum GlobalNormGradInput { kGlobalGradGamma = 3, kGlobalGradDy = 4 };
enum GlobalNormGradOutput {
  kGlobalDx,
  kGlobalDMean,
  kGlobalDVariance,
  kGlobalDBeta,
  kGlobalDGamma
};

struct GlobalNorm {
  ChannelLayout layout;
  DataType type;
  float epsilon;
  bool scale;  // by gamma
};

double Value(const GlobalNorm& s, const void* data, int64_t i) {
  double x = 0;
  VisitFloat(s.type, [&](auto element) { x = element.template As<double>(data, i); });
  return x;
}

void SetValue(const GlobalNorm& s, void* data, int64_t i, double x) {
  VisitFloat(s.type, [&](auto element) { element.Put(data, i, x); });
}

// Calls f(element, c, element number) for all elements, split over the workers.
template <typename F>
void ForEachElement(const GlobalNorm& s, const StepArgs& args, F f) {
  const int64_t n = s.layout.channels;
  args.workers->ParallelFor(s.layout.outer, GrainFor(n * 16), [&](int64_t begin, int64_t end) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t o = begin; o < end; ++o)
        s.layout.ForEach(o, 0, n, [&](int64_t c, int64_t at) { f(element, c, at); });
    });
  });
}

absl::Status RunGlobalNorm(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const GlobalNorm*>(state);
  auto* const factor = static_cast<double*>(args.scratch);
  auto* const shift = factor + s.layout.channels;
  for (int64_t c = 0; c < s.layout.channels; ++c) {
    factor[c] = 1 / std::sqrt(Value(s, args.in[kGlobalVariance], c) + s.epsilon);
    if (s.scale) factor[c] *= Value(s, args.in[kGlobalGamma], c);
    // In double, where folding mean and factor into one shift costs no accuracy of the result.
    shift[c] = Value(s, args.in[kGlobalBeta], c) - Value(s, args.in[kGlobalMean], c) * factor[c];
  }
  ForEachElement(s, args, [&](auto element, int64_t c, int64_t at) {
    element.Put(args.out[0], at,
                element.template As<double>(args.in[kGlobalX], at) * factor[c] + shift[c]);
  });
  return absl::OkStatus();
}

absl::Status RunGlobalNormGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const GlobalNorm*>(state);
  const int64_t n = s.layout.channels;
  auto* const mean = static_cast<double*>(args.scratch);
  double *const sum = mean + n, *const centered = sum + n, *const factor = centered + n;
  for (int64_t c = 0; c < n; ++c) mean[c] = Value(s, args.in[kGlobalMean], c);
  SumGradients(s.layout, {s.type, args.in[kGlobalGradDy], args.in[kGlobalX], mean, sum, centered},
               args.workers);
  for (int64_t c = 0; c < n; ++c) {
    const double variance = Value(s, args.in[kGlobalVariance], c) + s.epsilon;
    const double inverse = 1 / std::sqrt(variance);
    factor[c] = inverse * (s.scale ? Value(s, args.in[kGlobalGradGamma], c) : 1);
    SetValue(s, args.out[kGlobalDMean], c, -sum[c] * factor[c]);
    // The derivative of (variance + epsilon) ^ (-1/2).
    SetValue(s, args.out[kGlobalDVariance], c, -0.5 * centered[c] * factor[c] / variance);
    SetValue(s, args.out[kGlobalDBeta], c, sum[c]);
    SetValue(s, args.out[kGlobalDGamma], c, s.scale ? centered[c] * inverse : 0);
  }
  ForEachElement(s, args, [&](auto element, int64_t c, int64_t at) {
    element.Put(args.out[kGlobalDx], at,
                element.template As<double>(args.in[kGlobalGradDy], at) * factor[c]);
  });
  return absl::OkStatus();
}

absl::Status PrepareAs(Prepare& p, bool grad) {
  const Shape& x = p.input_shape(kGlobalX);
  if (x.rank() != 4) return p.Invalid(absl::StrCat("t must have rank 4, not ", x.ToString()));
  auto s = std::make_shared<GlobalNorm>();
  s->layout = {DimProduct(x, 0, 3), x.dim(3), 1};
  s->type = p.input_type(kGlobalX);
  TENON_ASSIGN_OR_RETURN(s->epsilon, p.AttrFloat("variance_epsilon"));
  TENON_ASSIGN_OR_RETURN(s->scale, p.AttrBool("scale_after_normalization"));
  for (int i = 1; i < 5; ++i)
    TENON_RETURN_IF_ERROR(
        CheckInputShape(p, i, grad && i == kGlobalGradDy ? x : Shape({x.dim(3)})));
  p.set_output_shape(0, x);
  for (int i = 1; i < p.num_outputs(); ++i) p.set_output_shape(i, Shape({x.dim(3)}));
  p.set_scratch_bytes((grad ? 4 : 2) * x.dim(3) * sizeof(double));
  p.set_run(grad ? &RunGlobalNormGrad : &RunGlobalNorm, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareNorm(Prepare& p) { return PrepareAs(p, false); }
absl::Status PrepareGrad(Prepare& p) { return PrepareAs(p, true); }

const CpuKernelSpec kGlobalBatchNormKernels[] = {
    {"BatchNormWithGlobalNormalization", {{"T", kFloatTypes}}, &PrepareNorm},
    {"BatchNormWithGlobalNormalizationGrad", {{"T", kFloatTypes}}, &PrepareGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> GlobalBatchNormKernels() { return kGlobalBatchNormKernels; }

}  // namespace tenon::cpu
