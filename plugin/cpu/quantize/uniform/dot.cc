// UniformQuantizedDot, UniformQuantizedDotHybrid: products of matrices.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/uniform/products.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

struct Dot {
  int64_t m, k, n;
  ProductScales scales;

  // Of the scratch, which holds the results' factors and then, in hybrid ops, the quantized rows.
  size_t FactorBytes() const { return AlignedBytes(ProductResults::ScratchBytes(scales)); }
};

RowScale QuantizeRow(const float* in, int64_t n, int8_t* out) {
  // The range always holds 0.
  float min = 0, max = 0;
  for (int64_t i = 0; i < n; ++i) {
    min = std::min(min, in[i]);
    max = std::max(max, in[i]);
  }
  const RowScale scale = RowScale::OfRange(min, max);
  for (int64_t i = 0; i < n; ++i) out[i] = scale(in[i]);
  return scale;
}

absl::Status RunDot(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Dot*>(state);
  TENON_ASSIGN_OR_RETURN(const ProductResults results,
                         ProductResults::Read(s.scales, args, args.scratch));
  auto* const rows = static_cast<int8_t*>(args.scratch) + s.FactorBytes();
  const auto* const rhs = static_cast<const int8_t*>(args.in[1]);
  args.workers->ParallelFor(s.m, GrainFor(s.n * s.k), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      RowScale scale{1, 1, s.scales.hybrid ? 0 : ZeroAt(args, ProductScales::kLhsInput + 1, 0)};
      const int8_t* row = static_cast<const int8_t*>(args.in[0]) + i * s.k;
      if (s.scales.hybrid) {
        // Each row has its own place in scratch, because rows are quantized by the threads that
        // multiply them.
        int8_t* const quantized = rows + i * s.k;
        scale = QuantizeRow(static_cast<const float*>(args.in[0]) + i * s.k, s.k, quantized);
        row = quantized;
      }
      for (int64_t j = 0; j < s.n; ++j) {
        const int32_t zero = results.rhs_zero(j);
        int32_t sum = 0;
        for (int64_t l = 0; l < s.k; ++l) {
          sum = WrappingAdd(sum, WrappingMultiply(WrappingSubtract(row[l], scale.zero),
                                                  WrappingSubtract(rhs[l * s.n + j], zero)));
        }
        results.Store(i * s.n + j, j, sum, scale.scale);
      }
    }
  });
  return absl::OkStatus();
}

// The attribute may be -1 or 1; scales and zero points decide which it is.
absl::StatusOr<int> FeatureAxis(const Prepare& p, std::string_view name, int scales) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, p.AttrInt(name));
  if (axis != -1 && axis != 1)
    return p.Invalid(absl::StrCat("attribute '", name, "' must be -1 or 1, not ", axis));
  return p.input_shape(scales).rank() == 0 ? -1 : 1;
}

absl::Status PrepareDot(Prepare& p) {
  const Shape &lhs = p.input_shape(0), &rhs = p.input_shape(1);
  if (lhs.rank() != 2 || rhs.rank() != 2 || lhs.dim(1) != rhs.dim(0)) {
    return p.Invalid(
        absl::StrCat(lhs.ToString(), " and ", rhs.ToString(), " are no matrices with a product"));
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, {lhs.dim(0), rhs.dim(1)}));
  const bool hybrid = p.num_inputs() == 4;
  TENON_ASSIGN_OR_RETURN(const int rhs_axis,
                         FeatureAxis(p, "rhs_quantization_axis", hybrid ? 2 : 4));
  int out_axis = -1;
  if (!hybrid) {
    TENON_ASSIGN_OR_RETURN(const int64_t lhs_axis, p.AttrInt("lhs_quantization_axis"));
    if (lhs_axis != -1) {
      return p.Invalid(
          absl::StrCat("attribute 'lhs_quantization_axis' must be -1, not ", lhs_axis));
    }
    TENON_ASSIGN_OR_RETURN(out_axis,
                           FeatureAxis(p, "output_quantization_axis", ProductScales::kOutInput));
  }
  TENON_ASSIGN_OR_RETURN(ProductScales scales, ReadProductScales(p, out, rhs_axis, out_axis));
  scales.features = out.dim(1);
  auto s = std::make_shared<Dot>(Dot{lhs.dim(0), lhs.dim(1), rhs.dim(1), scales});
  p.set_output_shape(0, out);
  if (out.num_elements() == 0) return absl::OkStatus();
  p.set_scratch_bytes(s->FactorBytes() + (hybrid ? s->m * s->k : 0));
  p.set_run(&RunDot, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> UniformDotKernels() {
  static const CpuKernelSpec specs[] = {
      {"UniformQuantizedDot", {{"Tin", kEveryType}}, PrepareDot},
      {"UniformQuantizedDotHybrid", {{"Tlhs", kEveryType}}, PrepareDot},
  };
  return specs;
}

}  // namespace tenon::cpu
