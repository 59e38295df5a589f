// UniformQuantize, UniformDequantize, UniformRequantize, UniformQuantizedClipByValue.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/type_sets.h"
#include "plugin/cpu/quantize/uniform/affine.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Elements {
  Slices slices;
  DataType type;
  QuantizedLimits limits{};
};

absl::Status RunQuantize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Elements*>(state);
  const auto* const in = static_cast<const float*>(args.in[0]);
  VisitQuantized(s.type, [&](auto element) {
    ForEachPiece(s.slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
      // A product with the inverse, as in TensorFlow: a quotient would round differently.
      const float inverse = 1.0f / ScaleAt(args, 1, slice);
      const int32_t zero = ZeroAt(args, 2, slice);
      for (int64_t i = begin; i < end; ++i)
        element.Put(args.out[0], i, AffineQuantize(in[i], inverse, zero, s.limits));
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareQuantize(Prepare& p) {
  const Shape& shape = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int axis, ReadQuantizationAxis(p, "quantization_axis", shape));
  TENON_ASSIGN_OR_RETURN(const Slices slices, CheckScales(p, 1, shape, axis));
  TENON_ASSIGN_OR_RETURN(const QuantizedLimits limits, ReadQuantizedLimits(p, ""));
  p.set_output_shape(0, shape);
  p.set_run(&RunQuantize, std::make_shared<Elements>(Elements{slices, p.output_type(0), limits}));
  return absl::OkStatus();
}

absl::Status RunDequantize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Elements*>(state);
  TENON_RETURN_IF_ERROR(CheckPositive(args, 1, s.slices.count, "scales"));
  auto* const out = static_cast<float*>(args.out[0]);
  VisitQuantized(s.type, [&](auto element) {
    ForEachPiece(s.slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
      const float scale = ScaleAt(args, 1, slice);
      const int32_t zero = ZeroAt(args, 2, slice);
      for (int64_t i = begin; i < end; ++i) {
        const auto q = element.template As<int32_t>(args.in[0], i);
        out[i] = static_cast<float>(WrappingSubtract(q, zero)) * scale;
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareDequantize(Prepare& p) {
  const Shape& shape = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int axis, ReadQuantizationAxis(p, "quantization_axis", shape));
  TENON_ASSIGN_OR_RETURN(const Slices slices, CheckScales(p, 1, shape, axis));
  p.set_output_shape(0, shape);
  p.set_run(&RunDequantize, std::make_shared<Elements>(Elements{slices, p.input_type(0)}));
  return absl::OkStatus();
}

// --- UniformRequantize.

struct Requantize : Elements {
  int64_t scales_in, scales_out;  // 1, or one for each slice
};

absl::Status RunUniformRequantize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Requantize*>(state);
  TENON_RETURN_IF_ERROR(CheckPositive(args, 1, s.scales_in, "input_scales"));
  TENON_RETURN_IF_ERROR(CheckPositive(args, 3, s.scales_out, "output_scales"));
  const auto in_of = [&](int64_t slice) { return s.scales_in == 1 ? 0 : slice; };
  const auto out_of = [&](int64_t slice) { return s.scales_out == 1 ? 0 : slice; };
  const auto factor_of = [&](int64_t slice) {
    return FixedFactor::Of(static_cast<double>(ScaleAt(args, 1, in_of(slice))) /
                           ScaleAt(args, 3, out_of(slice)));
  };
  // All factors are checked before anything is stored; below, none can fail.
  for (int64_t slice = 0; slice < s.slices.count; ++slice)
    TENON_RETURN_IF_ERROR(factor_of(slice).status());
  auto* const out = static_cast<int8_t*>(args.out[0]);
  VisitQuantized(s.type, [&](auto element) {
    ForEachPiece(s.slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
      const FixedFactor factor = *factor_of(slice);
      const int32_t zero = ZeroAt(args, 2, in_of(slice)), out_zero = ZeroAt(args, 4, out_of(slice));
      for (int64_t i = begin; i < end; ++i) {
        const int32_t q =
            factor(WrappingSubtract(element.template As<int32_t>(args.in[0], i), zero));
        out[i] = static_cast<int8_t>(s.limits.Clamp(WrappingAdd(q, out_zero)));
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareUniformRequantize(Prepare& p) {
  const Shape& shape = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int in, ReadQuantizationAxis(p, "input_quantization_axis", shape));
  TENON_ASSIGN_OR_RETURN(const int out, ReadQuantizationAxis(p, "output_quantization_axis", shape));
  if (in >= 0 && out >= 0 && in != out) {
    return p.Invalid(
        absl::StrCat("input and output are quantized along different axes, ", in, " and ", out));
  }
  TENON_ASSIGN_OR_RETURN(const Slices in_slices, CheckScales(p, 1, shape, in));
  TENON_ASSIGN_OR_RETURN(const Slices out_slices, CheckScales(p, 3, shape, out));
  TENON_ASSIGN_OR_RETURN(const QuantizedLimits limits, ReadQuantizedLimits(p, "output_"));
  p.set_output_shape(0, shape);
  p.set_run(&RunUniformRequantize,
            std::make_shared<Requantize>(Requantize{
                // If one side has an axis, the pieces follow it, and the other
                // side's index stays 0.
                {in >= 0 ? in_slices : out_slices, p.input_type(0), limits},
                in_slices.count,
                out_slices.count}));
  return absl::OkStatus();
}

// --- UniformQuantizedClipByValue: operand, min, max, scales, zero points.

absl::Status RunClip(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Elements*>(state);
  const auto* const in = static_cast<const int32_t*>(args.in[0]);
  auto* const out = static_cast<int32_t*>(args.out[0]);
  ForEachPiece(s.slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
    const int32_t min = ZeroAt(args, 1, slice), max = ZeroAt(args, 2, slice);
    for (int64_t i = begin; i < end; ++i) out[i] = std::min(std::max(in[i], min), max);
  });
  return absl::OkStatus();
}

absl::Status PrepareClip(Prepare& p) {
  const Shape& shape = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int axis, ReadQuantizationAxis(p, "quantization_axis", shape));
  TENON_ASSIGN_OR_RETURN(const Slices slices, CheckScales(p, 3, shape, axis));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 1, p.input_shape(3)));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 2, p.input_shape(3)));
  p.set_output_shape(0, shape);
  p.AllowInPlace(0, 0);
  p.set_run(&RunClip, std::make_shared<Elements>(Elements{slices, p.input_type(0)}));
  return absl::OkStatus();
}

constexpr uint64_t kQuantized = kBytes | kQint32;

}  // namespace

absl::Span<const CpuKernelSpec> UniformElementKernels() {
  static const CpuKernelSpec specs[] = {
      {"UniformQuantize", {{"Tout", kQuantized}}, PrepareQuantize},
      {"UniformDequantize", {{"Tin", kQuantized}}, PrepareDequantize},
      {"UniformRequantize",
       {{"Tin", kQint8 | kQint32}, {"Tout", kQint8}},
       PrepareUniformRequantize},
      {"UniformQuantizedClipByValue", {{"T", kQint32}}, PrepareClip},
  };
  return specs;
}

}  // namespace tenon::cpu
