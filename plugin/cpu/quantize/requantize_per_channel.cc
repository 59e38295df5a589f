// RequantizePerChannel, RequantizationRangePerChannel: sums of 32 bits with a range for each
// channel.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/type_sets.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Channels {
  int64_t rows, channels;
  bool is_signed = true;
  float most = 0;
};

// The greatest value that the channel's sums can stand for.
float GreatestOf(const StepArgs& args, int64_t channel) {
  return std::max(std::abs(static_cast<const float*>(args.in[1])[channel]),
                  std::abs(static_cast<const float*>(args.in[2])[channel]));
}

absl::Status RunRequantizePerChannel(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Channels*>(state);
  const ValueRange to = InputRange(args, 3);
  if (s.is_signed && !(to.min < 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("requested_output_min must be below 0 for qint8, not ", to.min));
  }
  const float greatest = std::max(std::abs(to.min), std::abs(to.max));
  const float steps = s.is_signed ? 127.0f : 255.0f;
  const float least = s.is_signed ? -128.0f : 0.0f;
  auto* const scales = static_cast<float*>(args.scratch);
  for (int64_t c = 0; c < s.channels; ++c)
    // An int32 sum of 2^31 stands for the channel's greatest value; `greatest` becomes `steps`.
    scales[c] = steps * (GreatestOf(args, c) / greatest / 0x1p31f);
  const auto* const in = static_cast<const int32_t*>(args.in[0]);
  auto* const out = static_cast<uint8_t*>(args.out[0]);
  args.workers->ParallelFor(s.rows, GrainFor(5 * s.channels), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t c = 0; c < s.channels; ++c) {
        const int64_t i = r * s.channels + c;
        const float scaled = static_cast<float>(in[i]) * scales[c];
        // NaN becomes the least value.
        const float clamped = std::min(std::max(least, scaled), steps);
        // By way of int, whose low byte is right for both signednesses: a negative float has no
        // conversion to uint8.
        out[i] = static_cast<uint8_t>(static_cast<int>(std::nearbyint(clamped)));
      }
    }
  });
  StoreRange(args, 1, to);
  return absl::OkStatus();
}

absl::Status RunRangePerChannel(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Channels*>(state);
  const auto* const in = static_cast<const int32_t*>(args.in[0]);
  const int64_t n = s.rows * s.channels;
  // Not 0: RequantizePerChannel divides by the bound of its range.
  float most = std::numeric_limits<float>::min();
  bool negative = false;
  for (int64_t c = 0; c < s.channels; ++c) {
    uint32_t magnitude = 0;
    for (int64_t i = c; i < n; i += s.channels) {
      negative |= in[i] < 0;
      const auto x = static_cast<uint32_t>(in[i]);
      // Unsigned: the lowest int32 has no positive counterpart in its own type.
      magnitude = std::max(magnitude, in[i] < 0 ? 0 - x : x);
    }
    most = std::max(most, GreatestOf(args, c) * static_cast<float>(magnitude) / 0x1p31f);
  }
  most = std::min(most, s.most);
  StoreRange(args, 0, {negative ? -most : 0.0f, most});
  return absl::OkStatus();
}

absl::Status CheckChannels(const Prepare& p, const Shape& values) {
  if (values.rank() != 4)
    return p.Invalid(absl::StrCat("the values must have rank 4, not ", values.rank()));
  const Shape want({values.dim(3)});
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 1, want));
  return CheckInputShape(p, 2, want);
}

absl::Status PrepareRequantize(Prepare& p) {
  const Shape& values = p.input_shape(0);
  TENON_RETURN_IF_ERROR(CheckChannels(p, values));
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 3, 5));
  const int64_t channels = values.dim(3);
  SetQuantizedOutput(p, values);
  p.set_scratch_bytes(channels * sizeof(float));
  p.set_run(&RunRequantizePerChannel,
            std::make_shared<Channels>(Channels{DimProduct(values, 0, 3), channels,
                                                p.output_type(0) == DataType::kQint8}));
  return absl::OkStatus();
}

absl::Status PrepareRange(Prepare& p) {
  const Shape& values = p.input_shape(0);
  TENON_RETURN_IF_ERROR(CheckChannels(p, values));
  if (values.num_elements() == 0) return p.Invalid("the values must not be empty");
  TENON_ASSIGN_OR_RETURN(const float most, p.AttrFloat("clip_value_max"));
  p.set_output_shape(0, Shape());
  p.set_output_shape(1, Shape());
  p.set_run(&RunRangePerChannel, std::make_shared<Channels>(Channels{DimProduct(values, 0, 3),
                                                                     values.dim(3), true, most}));
  return absl::OkStatus();
}

const CpuKernelSpec kPerChannelRequantizeKernels[] = {
    {"RequantizePerChannel",
     {{"T", kQint32}, {"out_type", TypeBits(DataType::kQint8, DataType::kQuint8)}},
     &PrepareRequantize},
    {"RequantizationRangePerChannel", {{"T", kQint32}}, &PrepareRange},
};

}  // namespace

absl::Span<const CpuKernelSpec> PerChannelRequantizeKernels() {
  return kPerChannelRequantizeKernels;
}

}  // namespace tenon::cpu
