// Turns the int32 sums of a product into results: for each channel a factor, an offset and a step,
// made once per run from the ranges of the inputs.
#include "plugin/cpu/quantize/fused_results.h"

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/store_sums.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// The greatest absolute value of a range: what the type's highest value stands for.
float Greatest(const ValueRange& range) {
  return std::max(std::abs(range.min), std::abs(range.max));
}

// The range of 32-bit products, as TensorFlow gives it.
ValueRange SumsRange(const ValueRange& a, double a_steps, const ValueRange& b) {
  const auto step = static_cast<float>((a.max - a.min) / a_steps) * ((b.max - b.min) / 254.0f);
  return {step * -0x1p31f, step * 0x1p31f};
}

}  // namespace

const StoreSums& ChooseStoreSums() {
  return *SelectIsa<const StoreSums*>(&sse2::kStoreSums, &avx2::kStoreSums, &avx512::kStoreSums);
}

absl::StatusOr<FusedResults> FusedResults::Make(Prepare& p, const Fusion& fusion,
                                                const Shape& out) {
  FusedResults r;
  r.fusion_ = fusion;
  r.in_type_ = p.input_type(0);
  r.out_type_ = p.output_type(0);
  // Inputs: two factors, the bias, with in_lists the summand, then min and max of both factors, the
  // range asked for and, without in_lists, the summand with its range.
  r.ranges_ = 2 + (fusion.bias ? 1 : 0) + (fusion.summand && fusion.in_lists ? 1 : 0);
  r.channels_ = out.dim(out.rank() - 1);
  r.bias_type_ = fusion.bias ? p.input_type(2) : DataType::kFloat;
  if (fusion.bias) TENON_RETURN_IF_ERROR(CheckInputShape(p, 2, Shape({r.channels_})));
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, r.ranges_, r.ranges_ + 2));
  const Shape& ranges = p.input_shape(r.ranges_ + 2);
  r.range_count_ = ranges.num_elements();
  if (ranges.rank() > 1 || (r.range_count_ != 1 && r.range_count_ != r.channels_)) {
    return p.Invalid(absl::StrCat("the filter must have one range or ", r.channels_, ", not ",
                                  ranges.ToString()));
  }
  TENON_RETURN_IF_ERROR(CheckInputShape(p, r.ranges_ + 3, ranges));
  if (p.op().FindAttr("input_quant_mode") != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::string_view mode, p.AttrString("input_quant_mode"));
    r.min_first_ = mode == "MIN_FIRST";
  }
  const bool asked = fusion.AsksForRange();
  if (asked) TENON_RETURN_IF_ERROR(CheckSingleValues(p, r.ranges_ + 4, r.ranges_ + 6));
  r.summand_ = fusion.in_lists ? r.ranges_ - 1 : r.ranges_ + (asked ? 6 : 4);
  if (fusion.summand) {
    r.summand_type_ = p.input_type(r.summand_);
    TENON_RETURN_IF_ERROR(CheckInputShape(p, r.summand_, out));
    if (!fusion.in_lists)
      TENON_RETURN_IF_ERROR(CheckSingleValues(p, r.summand_ + 1, p.num_inputs()));
  }
  p.set_output_shape(0, out);
  for (int i = 1; i < p.num_outputs(); ++i) p.set_output_shape(i, asked ? Shape() : ranges);
  return r;
}

size_t FusedResults::ChannelBytes() const { return 4 * AlignedBytes(channels_ * sizeof(double)); }

void FusedResults::StoreMany(const StepArgs& args, const Channels& channels, const int32_t* sums,
                             bool relu, int64_t n, int64_t i) const {
  const auto store = [&]<typename T>(StoreSums::Function<T> function) {
    function(sums, channels.factor, channels.offset, relu, n, static_cast<T*>(args.out[0]) + i);
  };
  const StoreSums& functions = ChooseStoreSums();
  switch (out_type_) {
    case DataType::kQint8:
      return store(functions.s8);
    case DataType::kQuint8:
      return store(functions.u8);
    case DataType::kQint32:
      return store(functions.s32);
    default:
      return store(functions.f32);
  }
}

absl::StatusOr<FusedResults::Channels> FusedResults::Start(const StepArgs& args) const {
  const ValueRange a = InputRange(args, ranges_);
  const auto b = [&](int64_t c) {
    const int64_t i = range_count_ == 1 ? 0 : c;
    return ValueRange{static_cast<const float*>(args.in[ranges_ + 2])[i],
                      static_cast<const float*>(args.in[ranges_ + 3])[i]};
  };
  // oneDNN's scales: the greatest magnitude stands for the highest integer, so that the range of
  // int8 is symmetric and leaves out -128. MIN_FIRST alone maps the whole range onto the integers.
  const double a_steps = in_type_ == DataType::kQuint8 ? 255.0 : 127.0;
  const double a_scale = (min_first_ ? a.max - a.min : Greatest(a)) / a_steps;
  const bool float_bias = fusion_.bias && bias_type_ != DataType::kQint32;
  if (min_first_ && float_bias && a.min != 0) {
    return absl::UnimplementedError(absl::StrCat(
        "a float bias of values that MIN_FIRST quantized from ", a.min, " on is not built"));
  }
  // Sums of channels with ranges of their own share the coarsest, as in TensorFlow.
  double b_scale = 0;
  for (int64_t c = 0; c < range_count_; ++c) b_scale = std::max(b_scale, Greatest(b(c)) / 127.0);
  double out_scale = a_scale * b_scale;
  if (fusion_.requantize) {
    const double steps = out_type_ == DataType::kQint8 ? 127.0 : 255.0;
    out_scale = Greatest(InputRange(args, ranges_ + 4)) / steps;
  } else if (fusion_.dequantize) {
    out_scale = 1;
  }
  if (fusion_.requantize && !(out_scale > 0)) {
    const ValueRange asked = InputRange(args, ranges_ + 4);
    return absl::InvalidArgumentError(absl::StrCat("the range asked for must have a width, not [",
                                                   asked.min, ", ", asked.max, "]"));
  }
  if (!(out_scale > 0) || !(a_scale > 0) || !(b_scale > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("the ranges must have a width, not [", a.min,
                                                   ", ", a.max, "] and [", b(0).min, ", ", b(0).max,
                                                   "]"));
  }
  double summand_scale = 1;  // of floats
  if (fusion_.summand && fusion_.requantize) {
    const double steps = summand_type_ == DataType::kQint8 ? 127.0 : 255.0;
    summand_scale = Greatest(InputRange(args, summand_ + 1)) / steps;
  }
  const auto numbers = [&](int64_t k) {
    return reinterpret_cast<double*>(static_cast<char*>(args.scratch) + k * ChannelBytes() / 4);
  };
  const Channels channels{numbers(0), numbers(1), numbers(2), numbers(3)};
  for (int64_t c = 0; c < channels_; ++c) {
    // The filter is int8, whose scale is symmetric: 127 steps.
    const double scale = a_scale * (Greatest(b(c)) / 127.0);
    double bias = 0;
    if (float_bias) {
      VisitFloat(bias_type_,
                 [&](auto element) { bias = element.template As<double>(args.in[2], c); });
    } else if (fusion_.bias) {
      // A qint32 bias is in units of the channel's products.
      bias = static_cast<const int32_t*>(args.in[2])[c] * scale;
    }
    // Equal scales give a factor of exactly 1, also where both are infinite and the quotient would
    // be NaN.
    channels.factor[c] = scale == out_scale ? 1 : scale / out_scale;
    channels.offset[c] = bias / out_scale;
    channels.summand_factor[c] = summand_scale / out_scale;
    channels.step[c] = out_scale;
  }
  if (fusion_.requantize) {
    const ValueRange asked = InputRange(args, ranges_ + 4);
    const float greatest = Greatest(asked);
    StoreRange(args, 1, fusion_.symmetric ? ValueRange{-greatest, greatest} : asked);
  } else if (!fusion_.dequantize) {
    for (int64_t c = 0; c < range_count_; ++c) {
      // The range that TensorFlow reports, from the ranges' widths, not from the scales above.
      const double width = in_type_ == DataType::kQuint8 ? 255.0 : 254.0;
      const ValueRange range = SumsRange(a, width, b(c));
      static_cast<float*>(args.out[1])[c] = range.min;
      static_cast<float*>(args.out[2])[c] = range.max;
    }
  }
  return channels;
}

}  // namespace tenon::cpu
