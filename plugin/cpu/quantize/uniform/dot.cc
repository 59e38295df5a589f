// UniformQuantizedDot, UniformQuantizedDotHybrid: products of matrices.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/products/byte_constant.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/cpu/quantize/uniform/products.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Dot {
  int64_t m, k, n;
  ProductScales scales;
  ByteMatMul product;
  ByteConstant right = {};

  // Of the scratch, which holds the results' factors, in hybrid ops the rows' scales, zero points
  // and quantized values, then the sums and what the product takes.
  size_t FactorBytes() const { return AlignedBytes(ProductResults::ScratchBytes(scales)); }
  size_t RowScaleBytes() const { return scales.hybrid ? AlignedBytes(m * sizeof(RowScale)) : 0; }
  size_t ZeroBytes() const { return scales.hybrid ? AlignedBytes(m * sizeof(int32_t)) : 0; }
  size_t RowBytes() const { return scales.hybrid ? AlignedBytes(m * k) : 0; }
  size_t SumBytes() const { return AlignedBytes(m * n * sizeof(int32_t)); }
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
  char* const memory = static_cast<char*>(args.scratch) + s.FactorBytes();
  auto* const scales = reinterpret_cast<RowScale*>(memory);
  auto* const zeros = reinterpret_cast<int32_t*>(memory + s.RowScaleBytes());
  auto* const rows = reinterpret_cast<int8_t*>(zeros) + s.ZeroBytes();
  auto* const sums = reinterpret_cast<int32_t*>(rows + s.RowBytes());
  ByteZeros points{{zeros, static_cast<size_t>(s.m)},
                   {static_cast<const int32_t*>(args.in[s.scales.rhs_input() + 1]),
                    static_cast<size_t>(s.scales.per_feature ? s.n : 1)}};
  if (s.scales.hybrid) {
    args.workers->ParallelFor(s.m, GrainFor(4 * s.k), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        scales[i] =
            QuantizeRow(static_cast<const float*>(args.in[0]) + i * s.k, s.k, rows + i * s.k);
        zeros[i] = scales[i].zero;
      }
    });
  } else {
    points.left = {static_cast<const int32_t*>(args.in[ProductScales::kLhsInput + 1]), 1};
  }
  const auto store = [&](int64_t row, int64_t begin, int64_t end) {
    const float scale = s.scales.hybrid ? scales[row].scale : 1;
    for (int64_t j = begin; j < end; ++j)
      results.Store(row * s.n + j, j, sums[row * s.n + j], scale);
  };
  const absl::FunctionRef<void(int64_t, int64_t, int64_t)> finish = store;
  s.product.Run(*args.workers, s.scales.hybrid ? rows : args.in[0], s.right.Or(args.in[1]), points,
                reinterpret_cast<char*>(sums) + s.SumBytes(), sums, &finish);
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
  auto s =
      std::make_shared<Dot>(Dot{lhs.dim(0), lhs.dim(1), rhs.dim(1), scales,
                                ByteMatMul(lhs.dim(0), lhs.dim(1), rhs.dim(1), {true}, {true})});
  p.set_output_shape(0, out);
  if (out.num_elements() == 0) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(s->right, ByteConstant::Pack(p, 1, s->product.right()));
  TENON_ASSIGN_OR_RETURN(const size_t scratch, s->product.ScratchBytes(s->right.is_packed()));
  p.set_scratch_bytes(s->FactorBytes() + s->RowScaleBytes() + s->ZeroBytes() + s->RowBytes() +
                      s->SumBytes() + scratch);
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
