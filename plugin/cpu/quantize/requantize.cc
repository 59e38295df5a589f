// Requantize, RequantizationRange, QuantizeDownAndShrinkRange: sums of 32 bits brought back to
// fewer.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/quantize/type_sets.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Requantization {
  int64_t n;
  DataType out_type;
};

// The range that the values have, with 0 in it.
ValueRange RangeOf(const int32_t* in, int64_t n, const ValueRange& range) {
  int32_t least = std::numeric_limits<int32_t>::max(), most = std::numeric_limits<int32_t>::min();
  for (int64_t i = 0; i < n; ++i) {
    least = std::min(least, in[i]);
    most = std::max(most, in[i]);
  }
  const QuantizedType type = QuantizedTypeOf(DataType::kQint32);
  return {std::min(0.0f, Dequantize(type, least, range.min, range.max)),
          Dequantize(type, most, range.min, range.max)};
}

// Fixed point with 16 binary places, as in TensorFlow: value = input * scale / 2^32 + offset.
class FixedPoint {
 public:
  FixedPoint(const ValueRange& from, const ValueRange& to) {
    const float width = to.max - to.min;
    if (width == 0) return;
    constexpr double kOne = 1 << 16;
    const float steps_to_one = static_cast<float>(255.0 / width);
    scale_ = ToInt64(255.0 * kOne * (from.max - from.min) / width);
    const float middle = static_cast<float>((from.min + from.max) / 2.0);
    // The last summand is half of a step: the shift in operator() then rounds to nearest.
    offset_ = ToInt64(middle * steps_to_one * static_cast<float>(kOne)) -
              ToInt64(kOne * (to.min * 255.0) / width) + (1 << 15);
  }

  uint8_t operator()(int32_t x) const {
    const auto product =
        // Unsigned, because the product may wrap, as in TensorFlow, which has no check here.
        static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(scale_));
    // The first shift divides by the 2^32 steps of int32, the second takes the binary places off.
    const int64_t value = ((product >> 32) + offset_) >> 16;
    return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
  }

 private:
  // Clamped far within int64, so that sums do not overflow.
  static int64_t ToInt64(double x) {
    return x == x ? static_cast<int64_t>(std::clamp(x, -0x1p61, 0x1p61)) : 0;
  }

  int64_t scale_ = 0, offset_ = 1 << 15;
};

void RequantizeAll(const Requantization& s, const StepArgs& args, const ValueRange& from,
                   const ValueRange& to) {
  const auto* const in = static_cast<const int32_t*>(args.in[0]);
  const FixedPoint fixed(from, to);
  const Dequantizer dequantize(QuantizedTypeOf(DataType::kQint32), from.min, from.max);
  const Quantizer quantize(QuantizedTypeOf(s.out_type), to.min, to.max);
  args.workers->ParallelFor(s.n, GrainFor(5), [&](int64_t begin, int64_t end) {
    // TensorFlow computes quint8 in fixed point and every other type through floats. The two round
    // differently.
    if (s.out_type == DataType::kQuint8) {
      auto* const out = static_cast<uint8_t*>(args.out[0]);
      for (int64_t i = begin; i < end; ++i) out[i] = fixed(in[i]);
    } else {
      auto* const out = static_cast<int8_t*>(args.out[0]);
      for (int64_t i = begin; i < end; ++i)
        out[i] = static_cast<int8_t>(quantize(dequantize(in[i])));
    }
  });
}

absl::Status RunRequantize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Requantization*>(state);
  const ValueRange to = InputRange(args, 3);
  if (!(to.min <= 0 && to.max >= to.min)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the requested range must begin at or below 0: [", to.min, ", ", to.max, "]"));
  }
  RequantizeAll(s, args, InputRange(args, 1), to);
  StoreRange(args, 1, to);
  return absl::OkStatus();
}

absl::Status RunShrink(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Requantization*>(state);
  const ValueRange from = InputRange(args, 1);
  const ValueRange to = RangeOf(static_cast<const int32_t*>(args.in[0]), s.n, from);
  RequantizeAll(s, args, from, to);
  StoreRange(args, 1, to);
  return absl::OkStatus();
}

absl::Status RunRange(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Requantization*>(state);
  StoreRange(args, 0, RangeOf(static_cast<const int32_t*>(args.in[0]), s.n, InputRange(args, 1)));
  return absl::OkStatus();
}

template <RunFn kRun>
absl::Status PrepareRequantization(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 1, p.num_inputs()));
  const int values = p.num_outputs() - 2;  // RequantizationRange has none
  if (values > 0) p.set_output_shape(0, p.input_shape(0));
  p.set_output_shape(values, Shape());
  p.set_output_shape(values + 1, Shape());
  p.set_run(kRun, std::make_shared<Requantization>(
                      Requantization{p.input_shape(0).num_elements(), p.output_type(0)}));
  return absl::OkStatus();
}

const CpuKernelSpec kRequantizeKernels[] = {
    {"Requantize",
     {{"Tinput", kQint32}, {"out_type", kBytes}},
     &PrepareRequantization<&RunRequantize>},
    {"RequantizationRange", {{"Tinput", kQint32}}, &PrepareRequantization<&RunRange>},
    {"QuantizeDownAndShrinkRange",
     {{"Tinput", kQint32}, {"out_type", TypeBit(DataType::kQuint8)}},
     &PrepareRequantization<&RunShrink>},
};

}  // namespace

absl::Span<const CpuKernelSpec> RequantizeKernels() { return kRequantizeKernels; }

}  // namespace tenon::cpu
