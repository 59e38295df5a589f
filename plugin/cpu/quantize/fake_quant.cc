// FakeQuantWithMinMaxArgs, Vars, VarsPerChannel and their gradients: floats rounded to the values
// that a quantized type would have.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/fake_quant_loop.h"
#include "plugin/cpu/quantize/slices.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct FakeQuant {
  Slices slices;  // channels, or all
  // The quantized type's integers, as floats: all arithmetic is in float, as in TensorFlow.
  float lowest = 0, highest = 0;
  bool range_given = false;  // in attributes
  float min = 0, max = 0;
};

// A range moved so that 0 is one of its values: the zero point is rounded to an integer and limited
// to the type's integers, then both ends follow from it.
struct Nudged {
  float min, max, step;
  bool empty;  // [0, 0]
};

Nudged Nudge(const FakeQuant& s, float min, float max) {
  Nudged range;
  range.empty = min == 0 && max == 0;
  // In an empty range the step is 0 and what follows is NaN. Callers ask for `empty` first.
  range.step = (max - min) / (s.highest - s.lowest);
  const float zero = s.lowest - min / range.step;
  float nudged = s.lowest;
  if (zero > s.highest) {
    nudged = s.highest;
  } else if (zero >= s.lowest) {
    nudged = std::round(zero);
  }
  range.min = (s.lowest - nudged) * range.step;
  range.max = (s.highest - nudged) * range.step;
  return range;
}

// The ranges of all slices, in scratch; `input` is that of the minima.
const Nudged* NudgeAll(const FakeQuant& s, const StepArgs& args, int input) {
  auto* const ranges = static_cast<Nudged*>(args.scratch);
  for (int64_t i = 0; i < s.slices.count; ++i) {
    ranges[i] = s.range_given ? Nudge(s, s.min, s.max)
                              : Nudge(s, static_cast<const float*>(args.in[input])[i],
                                      static_cast<const float*>(args.in[input + 1])[i]);
  }
  return ranges;
}

absl::Status RunFakeQuant(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FakeQuant*>(state);
  const auto loop =
      SelectIsa<FakeQuantLoop>(&sse2::RoundToSteps, &avx2::RoundToSteps, &avx512::RoundToSteps);
  const Nudged* const ranges = NudgeAll(s, args, 1);
  const auto* const in = static_cast<const float*>(args.in[0]);
  auto* const out = static_cast<float*>(args.out[0]);
  ForEachPiece(s.slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
    const Nudged r = ranges[slice];
    if (r.empty) return std::fill(out + begin, out + end, 0.0f);
    // TensorFlow multiplies by the inverse where the range is an attribute, and rounds differently.
    loop(in + begin, end - begin, {r.min, r.max, r.step}, s.range_given, out + begin);
  });
  return absl::OkStatus();
}

// Inputs are the gradients, the inputs and, unless they are attributes, the ranges.
absl::Status RunFakeGradient(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FakeQuant*>(state);
  const Nudged* const ranges = NudgeAll(s, args, 2);
  const auto* const gradients = static_cast<const float*>(args.in[0]);
  const auto* const in = static_cast<const float*>(args.in[1]);
  auto* const out = static_cast<float*>(args.out[0]);
  ForEachPiece(s.slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
    const Nudged r = ranges[slice];
    for (int64_t i = begin; i < end; ++i) {
      const bool inside = r.empty || (in[i] >= r.min && in[i] <= r.max);
      // A product, not a choice, as in TensorFlow: an infinite or NaN gradient outside of the range
      // gives NaN.
      out[i] = gradients[i] * static_cast<float>(inside);
    }
  });
  if (s.range_given) return absl::OkStatus();
  const int64_t grain = GrainFor(s.slices.outer * s.slices.inner * 8);
  args.workers->ParallelFor(s.slices.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t slice = begin; slice < end; ++slice) {
      const Nudged r = ranges[slice];
      // Summed in double, in the order of memory: the result does not depend on the number of
      // threads.
      double below = 0, above = 0;
      // A range of [0, 0] passes all gradients to the input and none to its ends.
      ForEachRun(s.slices, slice, [&](int64_t first, int64_t last) {
        if (r.empty) return;
        for (int64_t i = first; i < last; ++i) {
          below += gradients[i] * static_cast<float>(in[i] < r.min);
          above += gradients[i] * static_cast<float>(in[i] > r.max);
        }
      });
      static_cast<float*>(args.out[1])[slice] = static_cast<float>(below);
      static_cast<float*>(args.out[2])[slice] = static_cast<float>(above);
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<FakeQuant>> ReadFakeQuant(const Prepare& p) {
  auto s = std::make_shared<FakeQuant>();
  TENON_ASSIGN_OR_RETURN(const int64_t num_bits, p.AttrInt("num_bits"));
  if (num_bits < 2 || num_bits > 16)
    return p.Invalid(absl::StrCat("num_bits must be in [2, 16], not ", num_bits));
  TENON_ASSIGN_OR_RETURN(const bool narrow_range, p.AttrBool("narrow_range"));
  // A narrow range leaves out the lowest integer, so that signed values are symmetric about 0.
  s->lowest = narrow_range ? 1 : 0;
  s->highest = static_cast<float>((1 << num_bits) - 1);
  s->slices.inner = p.input_shape(0).num_elements();
  s->range_given = p.op().FindAttr("min") != nullptr;
  if (!s->range_given) return s;
  TENON_ASSIGN_OR_RETURN(s->min, p.AttrFloat("min"));
  TENON_ASSIGN_OR_RETURN(s->max, p.AttrFloat("max"));
  if (!(s->min < s->max))
    return p.Invalid(absl::StrCat("min must be below max: ", s->min, " and ", s->max));
  return s;
}

// Slices along the last dimension, each with a range in inputs i and i + 1.
absl::Status ReadChannels(const Prepare& p, int i, FakeQuant* s) {
  const Shape& shape = p.input_shape(0);
  if (shape.rank() < 1) return p.Invalid("the inputs must have channels");
  s->slices = {DimProduct(shape, 0, shape.rank() - 1), shape.dim(shape.rank() - 1), 1};
  for (int k = i; k < i + 2; ++k)
    TENON_RETURN_IF_ERROR(CheckInputShape(p, k, Shape({s->slices.count})));
  return absl::OkStatus();
}

template <bool kChannels>
absl::Status PrepareForward(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const auto s, ReadFakeQuant(p));
  if (kChannels) {
    TENON_RETURN_IF_ERROR(ReadChannels(p, 1, s.get()));
  } else if (!s->range_given) {
    TENON_RETURN_IF_ERROR(CheckScalars(p, 1, 3));
  }
  p.set_output_shape(0, p.input_shape(0));
  p.AllowInPlace(0, 0);
  p.set_scratch_bytes(s->slices.count * sizeof(Nudged));
  p.set_run(&RunFakeQuant, s);
  return absl::OkStatus();
}

template <bool kChannels>
absl::Status PrepareFakeGradient(Prepare& p) {
  const Shape& shape = p.input_shape(0);
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 1, shape));
  TENON_ASSIGN_OR_RETURN(const auto s, ReadFakeQuant(p));
  if (kChannels) {
    TENON_RETURN_IF_ERROR(ReadChannels(p, 2, s.get()));
  } else if (!s->range_given) {
    TENON_RETURN_IF_ERROR(CheckScalars(p, 2, 4));
  }
  p.set_output_shape(0, shape);
  for (int i = 1; i < p.num_outputs(); ++i)
    p.set_output_shape(i, kChannels ? Shape({s->slices.count}) : Shape());
  p.set_scratch_bytes(s->slices.count * sizeof(Nudged));
  p.set_run(&RunFakeGradient, s);
  return absl::OkStatus();
}

const CpuKernelSpec kFakeQuantKernels[] = {
    {"FakeQuantWithMinMaxArgs", {}, &PrepareForward<false>},
    {"FakeQuantWithMinMaxArgsGradient", {}, &PrepareFakeGradient<false>},
    {"FakeQuantWithMinMaxVars", {}, &PrepareForward<false>},
    {"FakeQuantWithMinMaxVarsGradient", {}, &PrepareFakeGradient<false>},
    {"FakeQuantWithMinMaxVarsPerChannel", {}, &PrepareForward<true>},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", {}, &PrepareFakeGradient<true>},
};

}  // namespace

absl::Span<const CpuKernelSpec> FakeQuantKernels() { return kFakeQuantKernels; }

}  // namespace tenon::cpu
