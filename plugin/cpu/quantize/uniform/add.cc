// UniformQuantizedAdd: lhs and rhs, then scales and zero points of lhs, rhs and output.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/uniform/affine.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Operand {
  int scales;                    // the input
  int64_t scale_count;           // 1, or one for each slice
  std::vector<int64_t> strides;  // by output dimension; 0 where it is repeated
  int axis;                      // output dimension of its slices, or -1
  int64_t factor_count;  // 1, or one for each slice of its own or, if it has none, of the output
};

struct Add {
  Dims dims;
  int64_t count;
  int out_axis;
  int64_t out_scale_count;
  QuantizedLimits limits;
  Operand operands[2];
};

// The factor and the zero point of an operand where it has slice `own` and the output `out`.
struct Scaled {
  const FixedFactor* factors;
  const Operand& operand;
  const int32_t* zeros;

  int32_t operator()(int32_t q, int64_t own, int64_t out) const {
    // The factor is the operand's scale over the output's. If the operand has one scale, its
    // factors differ by the output's slice.
    const int64_t i = operand.axis >= 0 ? own : out;
    return factors[operand.factor_count == 1 ? 0 : i](
        WrappingSubtract(q, zeros[operand.scale_count == 1 ? 0 : own]));
  }
};

absl::StatusOr<Scaled> ReadFactors(const Add& s, const Operand& operand, const StepArgs& args,
                                   FixedFactor* factors) {
  // Slice i of an operand with an axis meets slice i of the output only, since ReadOperand asks for
  // the same axis.
  for (int64_t i = 0; i < operand.factor_count; ++i) {
    const double from = ScaleAt(args, operand.scales, operand.scale_count == 1 ? 0 : i);
    TENON_ASSIGN_OR_RETURN(
        factors[i], FixedFactor::Of(from / ScaleAt(args, 6, s.out_scale_count == 1 ? 0 : i)));
  }
  return Scaled{factors, operand, static_cast<const int32_t*>(args.in[operand.scales + 1])};
}

absl::Status RunAdd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Add*>(state);
  TENON_RETURN_IF_ERROR(CheckPositive(args, 2, s.operands[0].scale_count, "lhs_scales"));
  TENON_RETURN_IF_ERROR(CheckPositive(args, 4, s.operands[1].scale_count, "rhs_scales"));
  TENON_RETURN_IF_ERROR(CheckPositive(args, 6, s.out_scale_count, "output_scales"));
  auto* const factors = static_cast<FixedFactor*>(args.scratch);
  TENON_ASSIGN_OR_RETURN(const Scaled lhs, ReadFactors(s, s.operands[0], args, factors));
  TENON_ASSIGN_OR_RETURN(const Scaled rhs,
                         ReadFactors(s, s.operands[1], args, factors + s.operands[0].factor_count));
  auto* const out = static_cast<int32_t*>(args.out[0]);
  const int rank = static_cast<int>(s.dims.size());
  args.workers->ParallelFor(s.count, GrainFor(64), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i, out_slice = 0, at[2] = {0, 0}, slice[2] = {0, 0};
      // The coordinates of element i, from the last dimension on.
      for (int d = rank - 1; d >= 0; rest /= s.dims[d--]) {
        const int64_t place = rest % s.dims[d];
        if (d == s.out_axis) out_slice = place;
        for (int k = 0; k < 2; ++k) {
          at[k] += place * s.operands[k].strides[d];
          if (d == s.operands[k].axis && s.operands[k].scale_count > 1) slice[k] = place;
        }
      }
      const auto value = [&](const Scaled& scaled, int k) {
        return scaled(static_cast<const int32_t*>(args.in[k])[at[k]], slice[k], out_slice);
      };
      const int32_t zero = ZeroAt(args, 7, s.out_scale_count == 1 ? 0 : out_slice);
      out[i] = s.limits.Clamp(WrappingAdd(WrappingAdd(value(lhs, 0), value(rhs, 1)), zero));
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<Operand> ReadOperand(const Prepare& p, int input, std::string_view axis_name,
                                    const Shape& out, int out_axis, int64_t out_scale_count) {
  const Shape& shape = p.input_shape(input);
  TENON_ASSIGN_OR_RETURN(const int axis, ReadQuantizationAxis(p, axis_name, shape));
  TENON_ASSIGN_OR_RETURN(const Slices slices, CheckScales(p, 2 + 2 * input, shape, axis));
  const int skipped = out.rank() - shape.rank();
  if (axis >= 0 && out_axis >= 0 && axis + skipped != out_axis) {
    return p.Invalid(absl::StrCat("input ", input, " and the output are quantized along different",
                                  " axes, ", axis, " of ", shape.ToString(), " and ", out_axis,
                                  " of ", out.ToString()));
  }
  Operand operand{2 + 2 * input, slices.count, std::vector<int64_t>(out.rank(), 0),
                  axis < 0 ? -1 : axis + skipped, axis < 0 ? out_scale_count : slices.count};
  int64_t stride = 1;
  for (int d = shape.rank() - 1; d >= 0; stride *= shape.dim(d--))
    // Dimensions that the operand lacks keep stride 0.
    operand.strides[d + skipped] = shape.dim(d) == 1 ? 0 : stride;
  return operand;
}

absl::Status PrepareAdd(Prepare& p) {
  const std::optional<Dims> dims = BroadcastDims(p.input_shape(0).dims(), p.input_shape(1).dims());
  if (!dims.has_value()) return p.Invalid("the shapes do not broadcast");
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, *dims));
  auto s = std::make_shared<Add>();
  s->dims = *dims;
  s->count = out.num_elements();
  TENON_ASSIGN_OR_RETURN(s->out_axis, ReadQuantizationAxis(p, "output_quantization_axis", out));
  TENON_ASSIGN_OR_RETURN(const Slices slices, CheckScales(p, 6, out, s->out_axis));
  s->out_scale_count = slices.count;
  TENON_ASSIGN_OR_RETURN(s->limits, ReadQuantizedLimits(p, "output_"));
  TENON_ASSIGN_OR_RETURN(s->operands[0], ReadOperand(p, 0, "lhs_quantization_axis", out,
                                                     s->out_axis, s->out_scale_count));
  TENON_ASSIGN_OR_RETURN(s->operands[1], ReadOperand(p, 1, "rhs_quantization_axis", out,
                                                     s->out_axis, s->out_scale_count));
  p.set_scratch_bytes(sizeof(FixedFactor) *
                      (s->operands[0].factor_count + s->operands[1].factor_count));
  p.set_output_shape(0, out);
  p.set_run(&RunAdd, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> UniformAddKernels() {
  static const CpuKernelSpec specs[] = {
      {"UniformQuantizedAdd", {{"T", TypeBit(DataType::kQint32)}}, PrepareAdd}};
  return specs;
}

}  // namespace tenon::cpu
