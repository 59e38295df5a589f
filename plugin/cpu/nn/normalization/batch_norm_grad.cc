// FusedBatchNormGrad and its versions, after training and after inference.
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

// Mean and variance are those that the forward op used.
enum BatchNormGradInput { kGradDy, kGradX, kGradScale, kGradMean, kGradVariance };
enum BatchNormGradOutput { kGradDx, kGradDScale, kGradDOffset, kGradUnused4, kGradUnused5 };

struct BatchNormGrad {
  ChannelLayout layout;
  DataType type;
  float epsilon;
  bool training;
};

// GradVectors in scratch memory: dx = factor * (dy - shift - (x - mean) * slope).
struct GradVectors {
  double *mean, *sum, *centered;
  float *factor, *shift, *slope, *mean32;
};
constexpr size_t kBytesPerChannel = 3 * sizeof(double) + 4 * sizeof(float);

GradVectors VectorsIn(void* scratch, int64_t n) {
  auto* const d = static_cast<double*>(scratch);
  auto* const f = reinterpret_cast<float*>(d + 3 * n);
  return {d, d + n, d + 2 * n, f, f + n, f + 2 * n, f + 3 * n};
}

void ChannelGradients(const BatchNormGrad& s, const StepArgs& args, const GradVectors& v) {
  const auto at = [&](int i, int64_t c) { return static_cast<const float*>(args.in[i])[c]; };
  for (int64_t c = 0; c < s.layout.channels; ++c) v.mean[c] = at(kGradMean, c);
  SumGradients(s.layout, {s.type, args.in[kGradDy], args.in[kGradX], v.mean, v.sum, v.centered},
               args.workers);
  const double count = static_cast<double>(s.layout.count());
  for (int64_t c = 0; c < s.layout.channels; ++c) {
    const double variance = double{at(kGradVariance, c)} + s.epsilon;
    const double deviation = std::sqrt(variance);
    static_cast<float*>(args.out[kGradDScale])[c] = static_cast<float>(v.centered[c] / deviation);
    static_cast<float*>(args.out[kGradDOffset])[c] = static_cast<float>(v.sum[c]);
    v.mean32[c] = at(kGradMean, c);
    v.factor[c] = static_cast<float>(at(kGradScale, c) / deviation);
    // With given statistics, mean and variance are constants: dx is factor * dy alone.
    v.shift[c] = s.training ? static_cast<float>(v.sum[c] / count) : 0;
    v.slope[c] = s.training ? static_cast<float>(v.centered[c] / count / variance) : 0;
  }
}

absl::Status RunBatchNormGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BatchNormGrad*>(state);
  const ChannelLayout& layout = s.layout;
  const GradVectors v = VectorsIn(args.scratch, layout.channels);
  ChannelGradients(s, args, v);
  const int64_t row_bytes = layout.channels * layout.inner * 12;
  args.workers->ParallelFor(layout.outer, GrainFor(row_bytes), [&](int64_t begin, int64_t end) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t o = begin; o < end; ++o) {
        layout.ForEach(o, 0, layout.channels, [&](int64_t c, int64_t at) {
          const float dy = element.template As<float>(args.in[kGradDy], at);
          const float x = element.template As<float>(args.in[kGradX], at) - v.mean32[c];
          element.Put(args.out[kGradDx], at, v.factor[c] * (dy - v.shift[c] - x * v.slope[c]));
        });
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareBatchNormGrad(Prepare& p) {
  const Shape& x = p.input_shape(kGradX);
  TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("data_format"));
  // The format has a letter for each dimension.
  const int rank = static_cast<int>(format.size());
  if (x.rank() != rank)
    return p.Invalid(absl::StrCat("x must have rank ", rank, ", not ", x.ToString()));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, kGradDy, x));
  const int channel = format.substr(0, 2) == "NC" ? 1 : rank - 1;
  auto s = std::make_shared<BatchNormGrad>();
  const AxisSplit split = SplitAt(x, channel);
  s->layout = {split.outer, split.size, split.inner};
  s->type = p.input_type(kGradX);
  TENON_ASSIGN_OR_RETURN(s->epsilon, p.AttrFloat("epsilon"));
  TENON_ASSIGN_OR_RETURN(s->training, p.AttrBool("is_training"));
  const Shape per_channel({s->layout.channels});
  for (int i : {kGradScale, kGradMean, kGradVariance})
    TENON_RETURN_IF_ERROR(CheckInputShape(p, i, per_channel));
  p.set_output_shape(kGradDx, x);
  for (int i : {kGradDScale, kGradDOffset}) p.set_output_shape(i, per_channel);
  for (int i : {kGradUnused4, kGradUnused5}) p.set_output_shape(i, Shape({0}));
  p.set_scratch_bytes(kBytesPerChannel * s->layout.channels);
  p.set_run(&RunBatchNormGrad, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kBatchNormGradFloat = TypeBit(DataType::kFloat);

const CpuKernelSpec kBatchNormGradKernels[] = {
    {"FusedBatchNormGrad", {{"T", kBatchNormGradFloat}}, &PrepareBatchNormGrad},
    {"FusedBatchNormGradV2",
     {{"T", kHalfTypes | kBatchNormGradFloat}, {"U", kBatchNormGradFloat}},
     &PrepareBatchNormGrad},
    {"FusedBatchNormGradV3",
     {{"T", kHalfTypes | kBatchNormGradFloat}, {"U", kBatchNormGradFloat}},
     &PrepareBatchNormGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> BatchNormGradKernels() { return kBatchNormGradKernels; }

}  // namespace tenon::cpu
