// FusedBatchNorm and its versions: with given statistics (inference) or those of the batch
// (training, forward).
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/channel_pieces.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/normalization/normalize_rows.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum BatchNormInput { kNormX, kNormScale, kNormOffset, kNormMean, kNormVariance, kNormSide };
enum BatchNormOutput {
  kNormY,
  kNormBatchMean,
  kNormBatchVariance,
  kNormSavedMean,
  kNormSavedVariance,
  kNormReserve3
};

struct BatchNorm {
  int64_t outer, channels, inner;  // of x
  DataType type, statistics;
  float epsilon;
  float new_share;  // of the batch in the running statistics
  bool training = false, side = false, relu = false;
  bool has_reserve3 = false;    // an output that GPUs use
  bool old_statistics = false;  // training: mean and variance hold running statistics
  void (*normalize)(const NormalizeRows&);
  ElementLoop widen = nullptr, narrow = nullptr;  // of half and bfloat16
};

// The vectors that a run derives, in its scratch memory.
struct Vectors {
  float *mean, *variance, *factor, *offset;
};

float Statistic(const BatchNorm& s, const void* data, int64_t c) {
  float x = 0;
  VisitFloat(s.statistics, [&](auto element) { x = element.template As<float>(data, c); });
  return x;
}

void SetStatistic(const BatchNorm& s, void* data, int64_t c, float value) {
  if (data != nullptr) VisitFloat(s.statistics, [&](auto element) { element.Put(data, c, value); });
}

void ClearReserve3(const BatchNorm& s, const StepArgs& args) {
  if (s.has_reserve3) SetStatistic(s, args.out[kNormReserve3], 0, 0);
}

constexpr int64_t kBlock = 16;  // channels whose statistics are computed side by side

// Mean and biased variance of the channels of block `b`, in double precision, in one order whatever
// the number of threads. The variance takes a second pass: the mean of the squares less the square
// of the mean would cancel.
template <typename Element>
void Statistics(const BatchNorm& s, const void* x, int64_t b, const Vectors& v, Element element) {
  const double count = static_cast<double>(s.outer) * static_cast<double>(s.inner);
  const int64_t begin = b * kBlock, n = std::min(kBlock, s.channels - begin);
  double mean[kBlock] = {}, square[kBlock] = {};
  const auto each = [&](auto f) {
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t c = 0; c < n; ++c) {
        const int64_t at = (o * s.channels + begin + c) * s.inner;
        for (int64_t i = 0; i < s.inner; ++i) f(c, element.template As<double>(x, at + i));
      }
    }
  };
  each([&](int64_t c, double value) { mean[c] += value; });
  for (int64_t c = 0; c < n; ++c) mean[c] /= count;
  each([&](int64_t c, double value) { square[c] += (value - mean[c]) * (value - mean[c]); });
  for (int64_t c = 0; c < n; ++c) {
    v.mean[begin + c] = static_cast<float>(mean[c]);
    v.variance[begin + c] = static_cast<float>(square[c] / count);
  }
}

void BatchStatistics(const BatchNorm& s, const StepArgs& args, const Vectors& v) {
  args.workers->ParallelFor((s.channels + kBlock - 1) / kBlock, 1, [&](int64_t begin, int64_t end) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t b = begin; b < end; ++b) Statistics(s, args.in[kNormX], b, v, element);
    });
  });
  const int64_t count = s.outer * s.inner;
  // Bessel's correction: the running variance has it, the saved one, which gradients use, does not.
  const float unbiased =
      static_cast<float>(count) / static_cast<float>(std::max<int64_t>(count - 1, 1));
  for (int64_t c = 0; c < s.channels; ++c) {
    SetStatistic(s, args.out[kNormSavedMean], c, v.mean[c]);
    SetStatistic(s, args.out[kNormSavedVariance], c, v.variance[c]);
    float mean = v.mean[c], variance = v.variance[c] * unbiased;
    if (s.old_statistics) {
      mean = (1 - s.new_share) * Statistic(s, args.in[kNormMean], c) + s.new_share * mean;
      variance =
          (1 - s.new_share) * Statistic(s, args.in[kNormVariance], c) + s.new_share * variance;
    }
    SetStatistic(s, args.out[kNormBatchMean], c, mean);
    SetStatistic(s, args.out[kNormBatchVariance], c, variance);
  }
}

// Inference hands the given statistics on.
void GivenStatistics(const BatchNorm& s, const StepArgs& args, const Vectors& v) {
  for (int64_t c = 0; c < s.channels; ++c) {
    v.mean[c] = Statistic(s, args.in[kNormMean], c);
    v.variance[c] = Statistic(s, args.in[kNormVariance], c);
    for (int out : {kNormBatchMean, kNormSavedMean}) SetStatistic(s, args.out[out], c, v.mean[c]);
    for (int out : {kNormBatchVariance, kNormSavedVariance})
      SetStatistic(s, args.out[out], c, v.variance[c]);
  }
}

void NormalizeFloat(const BatchNorm& s, const StepArgs& args, const Vectors& v) {
  const float* const x = static_cast<const float*>(args.in[kNormX]);
  float* const y = static_cast<float*>(args.out[kNormY]);
  const float* const side = s.side ? static_cast<const float*>(args.in[kNormSide]) : nullptr;
  const int64_t row = s.channels * s.inner;
  args.workers->ParallelFor(s.outer, GrainFor(row * 8), [&](int64_t begin, int64_t end) {
    s.normalize({x + begin * row, y + begin * row, end - begin, s.channels, s.inner, v.mean,
                 v.factor, v.offset, side == nullptr ? nullptr : side + begin * row, s.relu});
  });
}

// The same for half and bfloat16, which become floats in pieces.
void NormalizeWidened(const BatchNorm& s, const StepArgs& args, const Vectors& v) {
  constexpr int64_t kPiece = 2048, kBytes = 2;  // elements; of an element
  const auto normalize = [&](const ChannelPiece& piece) {
    alignas(64) float x[kPiece], side[kPiece];
    const int64_t n = piece.elements();
    const auto widen = [&](int input, float* to) {
      const void* const in[] = {static_cast<const char*>(args.in[input]) + piece.at * kBytes};
      s.widen(in, to, n, 0);
    };
    widen(kNormX, x);
    if (s.side) widen(kNormSide, side);
    const int64_t c = piece.channel;
    s.normalize({x, x, piece.rows, piece.channels, piece.inner, v.mean + c, v.factor + c,
                 v.offset + c, s.side ? side : nullptr, s.relu});
    const void* const in[] = {x};
    s.narrow(in, static_cast<char*>(args.out[kNormY]) + piece.at * kBytes, n, 0);
  };
  args.workers->ParallelFor(
      s.outer, GrainFor(s.channels * s.inner * 8), [&](int64_t begin, int64_t end) {
        ForEachChannelPiece(begin, end, s.channels, s.inner, kPiece, normalize);
      });
}

absl::Status RunBatchNorm(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BatchNorm*>(state);
  float* const scratch = static_cast<float*>(args.scratch);
  const Vectors v{scratch, scratch + s.channels, scratch + 2 * s.channels,
                  scratch + 3 * s.channels};
  if (s.training) {
    BatchStatistics(s, args, v);
  } else {
    GivenStatistics(s, args, v);
  }
  for (int64_t c = 0; c < s.channels; ++c) {
    v.factor[c] = Statistic(s, args.in[kNormScale], c) / std::sqrt(v.variance[c] + s.epsilon);
    v.offset[c] = Statistic(s, args.in[kNormOffset], c);
  }
  ClearReserve3(s, args);
  if (s.type == DataType::kFloat) {
    NormalizeFloat(s, args, v);
  } else {
    NormalizeWidened(s, args, v);
  }
  return absl::OkStatus();
}

// Nothing to normalise: the statistics of a batch without elements are NaN.
absl::Status RunEmpty(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BatchNorm*>(state);
  for (int64_t c = 0; c < s.channels; ++c) {
    for (int out : {kNormBatchMean, kNormBatchVariance, kNormSavedMean, kNormSavedVariance}) {
      SetStatistic(s, args.out[out], c, std::numeric_limits<float>::quiet_NaN());
    }
  }
  ClearReserve3(s, args);
  return absl::OkStatus();
}

absl::Status ReadEx(Prepare& p, BatchNorm& s) {
  if (p.op().FindAttr("activation_mode") == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, p.AttrString("activation_mode"));
  if (mode != "Identity" && mode != "Relu")
    return p.Unimplemented(absl::StrCat("activation_mode ", mode, " is not built"));
  s.relu = mode == "Relu";
  if (p.num_inputs() > kNormSide + 1)
    return p.Unimplemented("more than one side input is not built");
  s.side = p.num_inputs() == kNormSide + 1;
  if (s.side && !(p.input_shape(kNormSide) == p.input_shape(kNormX))) {
    return p.Invalid(absl::StrCat("the side input must have the shape ",
                                  p.input_shape(kNormX).ToString(), ", not ",
                                  p.input_shape(kNormSide).ToString()));
  }
  return absl::OkStatus();
}

absl::Status CheckVectors(const Prepare& p, const BatchNorm& s) {
  constexpr std::string_view kNames[] = {"x", "scale", "offset", "mean", "variance"};
  for (int i = kNormScale; i <= kNormVariance; ++i) {
    const Shape& shape = p.input_shape(i);
    if (shape == Shape({s.channels})) continue;
    // Training computes mean and variance itself. With exponential_avg_factor 1 it ignores the old
    // ones, which may then be empty.
    const bool unused = i >= kNormMean && s.training && shape == Shape({0});
    if (unused && s.new_share == 1) continue;
    return p.Invalid(absl::StrCat("'", kNames[i], "' must have the shape [", s.channels, "], not ",
                                  shape.ToString()));
  }
  return absl::OkStatus();
}

absl::Status PrepareBatchNorm(Prepare& p) {
  const Shape& x = p.input_shape(kNormX);
  TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("data_format"));
  const bool volume = format == "NDHWC" || format == "NCDHW";
  const int rank = volume ? 5 : 4;
  if (x.rank() != rank)
    return p.Invalid(absl::StrCat("x must have rank ", rank, ", not ", x.ToString()));
  const int channel = format.substr(0, 2) == "NC" ? 1 : rank - 1;
  auto s = std::make_shared<BatchNorm>();
  const AxisSplit split = SplitAt(x, channel);
  s->outer = split.outer;
  s->channels = split.size;
  s->inner = split.inner;
  s->type = p.input_type(kNormX);
  s->statistics = p.input_type(kNormScale);
  TENON_ASSIGN_OR_RETURN(s->epsilon, p.AttrFloat("epsilon"));
  TENON_ASSIGN_OR_RETURN(s->new_share, p.AttrFloat("exponential_avg_factor"));
  TENON_ASSIGN_OR_RETURN(s->training, p.AttrBool("is_training"));
  TENON_RETURN_IF_ERROR(ReadEx(p, *s));
  TENON_RETURN_IF_ERROR(CheckVectors(p, *s));
  s->old_statistics = s->training && s->new_share != 1;
  s->normalize = SelectIsa<void (*)(const NormalizeRows&)>(&sse2::Normalize, &avx2::Normalize,
                                                           &avx512::Normalize);
  if (HasType(kHalfTypes, s->type)) {
    s->widen = FindCastLoop(s->type, DataType::kFloat);
    s->narrow = FindCastLoop(DataType::kFloat, s->type);
  }
  p.set_output_shape(kNormY, x);
  for (int i = kNormBatchMean; i <= kNormSavedVariance; ++i)
    p.set_output_shape(i, Shape({s->channels}));
  s->has_reserve3 = p.num_outputs() > kNormReserve3;
  if (s->has_reserve3) p.set_output_shape(kNormReserve3, Shape({}));
  if (!s->training) p.AllowInPlace(kNormY, kNormX);
  p.set_scratch_bytes(4 * s->channels * sizeof(float));
  p.set_run(x.num_elements() == 0 ? &RunEmpty : &RunBatchNorm, s);
  return absl::OkStatus();
}

constexpr uint64_t kBatchNormFloat = TypeBit(DataType::kFloat);

const CpuKernelSpec kBatchNormKernels[] = {
    {"FusedBatchNorm", {{"T", kBatchNormFloat}}, &PrepareBatchNorm},
    {"FusedBatchNormV2",
     {{"T", kHalfTypes | kBatchNormFloat}, {"U", kBatchNormFloat}},
     &PrepareBatchNorm},
    {"FusedBatchNormV3",
     {{"T", kHalfTypes | kBatchNormFloat}, {"U", kBatchNormFloat}},
     &PrepareBatchNorm},
    {"_FusedBatchNormEx",
     {{"T", kHalfTypes | kBatchNormFloat}, {"U", kBatchNormFloat}},
     &PrepareBatchNorm},
};

}  // namespace

absl::Span<const CpuKernelSpec> BatchNormKernels() { return kBatchNormKernels; }

}  // namespace tenon::cpu
