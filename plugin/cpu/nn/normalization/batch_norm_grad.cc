// FusedBatchNormGrad and its versions, after training and after inference.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/normalization/channel_sums.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// Mean and variance are those that the forward op used.
enum Input { kDy, kX, kScale, kMean, kVariance };
enum Output { kDx, kDScale, kDOffset, kUnused4, kUnused5 };

struct BatchNormGrad {
  ChannelLayout layout;
  DataType type;
  float epsilon;
  bool training;
};

// Vectors in scratch memory: dx = factor * (dy - shift - (x - mean) * slope).
struct Vectors {
  double *mean, *sum, *centered;
  float *factor, *shift, *slope, *mean32;
};
constexpr size_t kBytesPerChannel = 3 * sizeof(double) + 4 * sizeof(float);

Vectors VectorsIn(void* scratch, int64_t n) {
  auto* const d = static_cast<double*>(scratch);
  auto* const f = reinterpret_cast<float*>(d + 3 * n);
  return {d, d + n, d + 2 * n, f, f + n, f + 2 * n, f + 3 * n};
}

void ChannelGradients(const BatchNormGrad& s, const StepArgs& args, const Vectors& v) {
  const auto at = [&](int i, int64_t c) { return static_cast<const float*>(args.in[i])[c]; };
  for (int64_t c = 0; c < s.layout.channels; ++c) v.mean[c] = at(kMean, c);
  SumGradients(s.layout, {s.type, args.in[kDy], args.in[kX], v.mean, v.sum, v.centered},
               args.workers);
  const double count = static_cast<double>(s.layout.count());
  for (int64_t c = 0; c < s.layout.channels; ++c) {
    const double variance = double{at(kVariance, c)} + s.epsilon;
    const double deviation = std::sqrt(variance);
    static_cast<float*>(args.out[kDScale])[c] = static_cast<float>(v.centered[c] / deviation);
    static_cast<float*>(args.out[kDOffset])[c] = static_cast<float>(v.sum[c]);
    v.mean32[c] = at(kMean, c);
    v.factor[c] = static_cast<float>(at(kScale, c) / deviation);
    // With given statistics, mean and variance are constants: dx is factor * dy alone.
    v.shift[c] = s.training ? static_cast<float>(v.sum[c] / count) : 0;
    v.slope[c] = s.training ? static_cast<float>(v.centered[c] / count / variance) : 0;
  }
}

absl::Status RunGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BatchNormGrad*>(state);
  const ChannelLayout& layout = s.layout;
  const Vectors v = VectorsIn(args.scratch, layout.channels);
  ChannelGradients(s, args, v);
  const int64_t row_bytes = layout.channels * layout.inner * 12;
  args.workers->ParallelFor(layout.outer, GrainFor(row_bytes), [&](int64_t begin, int64_t end) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t o = begin; o < end; ++o) {
        layout.ForEach(o, 0, layout.channels, [&](int64_t c, int64_t at) {
          const float dy = element.template As<float>(args.in[kDy], at);
          const float x = element.template As<float>(args.in[kX], at) - v.mean32[c];
          element.Put(args.out[kDx], at, v.factor[c] * (dy - v.shift[c] - x * v.slope[c]));
        });
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareGrad(Prepare& p) {
  const Shape& x = p.input_shape(kX);
  TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("data_format"));
  // The format has a letter for each dimension.
  const int rank = static_cast<int>(format.size());
  if (x.rank() != rank)
    return p.Invalid(absl::StrCat("x must have rank ", rank, ", not ", x.ToString()));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, kDy, x));
  const int channel = format.substr(0, 2) == "NC" ? 1 : rank - 1;
  auto s = std::make_shared<BatchNormGrad>();
  const AxisSplit split = SplitAt(x, channel);
  s->layout = {split.outer, split.size, split.inner};
  s->type = p.input_type(kX);
  TENON_ASSIGN_OR_RETURN(s->epsilon, p.AttrFloat("epsilon"));
  TENON_ASSIGN_OR_RETURN(s->training, p.AttrBool("is_training"));
  const Shape per_channel({s->layout.channels});
  for (int i : {kScale, kMean, kVariance})
    TENON_RETURN_IF_ERROR(CheckInputShape(p, i, per_channel));
  p.set_output_shape(kDx, x);
  for (int i : {kDScale, kDOffset}) p.set_output_shape(i, per_channel);
  for (int i : {kUnused4, kUnused5}) p.set_output_shape(i, Shape({0}));
  p.set_scratch_bytes(kBytesPerChannel * s->layout.channels);
  p.set_run(&RunGrad, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kFloat32 = TypeBit(DataType::kFloat);

const CpuKernelSpec kBatchNormGradKernels[] = {
    {"FusedBatchNormGrad", {{"T", kFloat32}}, &PrepareGrad},
    {"FusedBatchNormGradV2", {{"T", kHalfTypes | kFloat32}, {"U", kFloat32}}, &PrepareGrad},
    {"FusedBatchNormGradV3", {{"T", kHalfTypes | kFloat32}, {"U", kFloat32}}, &PrepareGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> BatchNormGradKernels() { return kBatchNormGradKernels; }

}  // namespace tenon::cpu
