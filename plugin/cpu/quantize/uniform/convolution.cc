// UniformQuantizedConvolution, UniformQuantizedConvolutionHybrid.
#include "absl/strings/str_cat.h"
#include "graph/shapes/uniform_convolution.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/uniform/products.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

using ops::UniformConvolution;
using ops::UniformConvolutionAxis;

// A tensor's elements apart in each dimension.
struct Strides {
  int64_t batch, feature;
  std::vector<int64_t> spatial;
};

Strides StridesOf(const Shape& shape, const UniformConvolution::Order& order) {
  Dims strides(shape.rank(), 1);
  for (int d = shape.rank() - 2; d >= 0; --d) strides[d] = strides[d + 1] * shape.dim(d + 1);
  Strides result{strides[order.batch], strides[order.feature], {}};
  for (int64_t d : order.spatial) result.spatial.push_back(strides[d]);
  return result;
}

struct Convolution {
  std::vector<UniformConvolutionAxis> axes;
  Strides lhs, rhs, out;
  int64_t batch, out_places;  // of the output
  int64_t rhs_features, window_places;
  int64_t features_per_feature_group, features_per_batch_group;
  AxisSplit lhs_batch;
  ProductScales scales;

  // Of the scratch, which holds the results' factors and, in hybrid ops, the scale of each of the
  // lhs' batch and the quantized lhs.
  size_t FactorBytes() const { return AlignedBytes(ProductResults::ScratchBytes(scales)); }
  size_t RowScaleBytes() const { return AlignedBytes(lhs_batch.size * sizeof(RowScale)); }
  size_t LhsBytes() const { return lhs_batch.outer * lhs_batch.size * lhs_batch.inner; }
};

// The lhs as int8, with a scale for each of its batch or one zero point for all.
struct Lhs {
  const int8_t* data;
  const RowScale* rows;
  int32_t zero;

  RowScale row(int64_t batch) const { return rows == nullptr ? RowScale{1, 1, zero} : rows[batch]; }
};

// Where place `i` of these axes lies in a tensor, counted row by row.
int64_t OffsetOf(const Convolution& s, int64_t i, int64_t UniformConvolutionAxis::*size,
                 const Strides& strides) {
  int64_t offset = 0;
  for (size_t d = s.axes.size(); d-- > 0; i /= s.axes[d].*size)
    offset += i % (s.axes[d].*size) * strides.spatial[d];
  return offset;
}

// The place of the lhs that output place `o` sees through place `w` of the window, or -1 for one
// that stands for 0.
int64_t LhsOffset(const Convolution& s, int64_t o, int64_t w) {
  int64_t offset = 0;
  for (size_t d = s.axes.size(); d-- > 0;) {
    const UniformConvolutionAxis& axis = s.axes[d];
    const int64_t at = o % axis.out * axis.stride + w % axis.size * axis.rhs_dilation - axis.before;
    // A dilated lhs has zeros between its values: only multiples of the dilation are values.
    if (at < 0 || at % axis.lhs_dilation != 0 || at / axis.lhs_dilation >= axis.in) return -1;
    offset += at / axis.lhs_dilation * s.lhs.spatial[d];
    o /= axis.out;
    w /= axis.size;
  }
  return offset;
}

int32_t SumAt(const Convolution& s, const Lhs& lhs, const int8_t* rhs, int64_t batch,
              int64_t feature, int64_t place, int32_t rhs_zero) {
  const int32_t zero = lhs.row(batch).zero;
  // What is around the values has the zero point's low bits.
  // TensorFlow pads with the zero point cast to int8. For a zero point that int8 holds the
  // difference is 0 and the padding adds nothing.
  const int32_t around = WrappingSubtract(static_cast<int8_t>(zero), zero);
  const int8_t* const values =
      lhs.data + batch * s.lhs.batch +
      feature / s.features_per_feature_group * s.rhs_features * s.lhs.feature;
  int32_t sum = 0;
  for (int64_t w = 0; w < s.window_places; ++w) {
    const int64_t from = LhsOffset(s, place, w);
    if (from < 0 && around == 0) continue;
    const int8_t* const weights =
        rhs + feature * s.rhs.batch + OffsetOf(s, w, &UniformConvolutionAxis::size, s.rhs);
    for (int64_t c = 0; c < s.rhs_features; ++c) {
      const int32_t x =
          from < 0 ? around : WrappingSubtract(values[from + c * s.lhs.feature], zero);
      sum = WrappingAdd(
          sum, WrappingMultiply(x, WrappingSubtract(weights[c * s.rhs.feature], rhs_zero)));
    }
  }
  return sum;
}

// Calls f(i) for the elements of one of the lhs' batch.
template <typename F>
void ForEachOf(const AxisSplit& split, int64_t batch, F f) {
  for (int64_t o = 0; o < split.outer; ++o) {
    const int64_t begin = (o * split.size + batch) * split.inner;
    for (int64_t i = begin; i < begin + split.inner; ++i) f(i);
  }
}

Lhs ReadLhs(const Convolution& s, const StepArgs& args) {
  if (!s.scales.hybrid) {
    return {static_cast<const int8_t*>(args.in[0]), nullptr,
            ZeroAt(args, ProductScales::kLhsInput + 1, 0)};
  }
  const auto* const in = static_cast<const float*>(args.in[0]);
  char* const scratch = static_cast<char*>(args.scratch) + s.FactorBytes();
  auto* const rows = reinterpret_cast<RowScale*>(scratch);
  auto* const data = reinterpret_cast<int8_t*>(scratch + s.RowScaleBytes());
  args.workers->ParallelFor(s.lhs_batch.size, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      // The range always holds 0.
      float min = 0, max = 0;
      ForEachOf(s.lhs_batch, b, [&](int64_t i) {
        min = std::min(min, in[i]);
        max = std::max(max, in[i]);
      });
      rows[b] = RowScale::OfRange(min, max);
      ForEachOf(s.lhs_batch, b, [&](int64_t i) { data[i] = rows[b](in[i]); });
    }
  });
  return {data, rows, 0};
}

absl::Status RunConvolution(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Convolution*>(state);
  TENON_ASSIGN_OR_RETURN(const ProductResults results,
                         ProductResults::Read(s.scales, args, args.scratch));
  const Lhs lhs = ReadLhs(s, args);
  const auto* const rhs = static_cast<const int8_t*>(args.in[1]);
  const int64_t features = s.scales.features;
  const int64_t work = s.out_places * s.window_places * s.rhs_features;
  args.workers->ParallelFor(s.batch * features, GrainFor(work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t out_batch = i / features, feature = i % features;
      // With batch groups, each group of features sees its own part of the lhs' batch.
      const int64_t batch = feature / s.features_per_batch_group * s.batch + out_batch;
      const int64_t out = out_batch * s.out.batch + feature * s.out.feature;
      const int32_t rhs_zero = results.rhs_zero(feature);
      const float scale = lhs.row(batch).scale;
      for (int64_t place = 0; place < s.out_places; ++place) {
        const int32_t sum = SumAt(s, lhs, rhs, batch, feature, place, rhs_zero);
        results.Store(out + OffsetOf(s, place, &UniformConvolutionAxis::out, s.out), feature, sum,
                      scale);
      }
    }
  });
  return absl::OkStatus();
}

// Attribute `name`: -1, or the dimension of the output features.
absl::StatusOr<int> FeatureAxis(const Prepare& p, std::string_view name, int64_t feature) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, p.AttrInt(name));
  if (axis == -1 || axis == feature) return static_cast<int>(axis);
  return p.Invalid(absl::StrCat("attribute '", name, "' must be -1 or ", feature,
                                ", the dimension of the output features, not ", axis));
}

absl::Status PrepareConvolution(Prepare& p) {
  const Shape &lhs = p.input_shape(0), &rhs = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const ops::UniformConvolutionAttrs attrs,
                         ops::ReadUniformConvolutionAttrs(p));
  absl::StatusOr<UniformConvolution> made = ops::MakeUniformConvolution(attrs, lhs, rhs);
  if (!made.ok()) return p.Invalid(made.status().message());
  const UniformConvolution& conv = *made;
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, conv.out_shape.dims()));
  TENON_ASSIGN_OR_RETURN(const int rhs_axis,
                         FeatureAxis(p, "rhs_quantization_axis", conv.rhs.batch));
  int out_axis = -1;
  if (p.num_inputs() > 4) {
    TENON_RETURN_IF_ERROR(FeatureAxis(p, "lhs_quantization_axis", -1).status());
    TENON_ASSIGN_OR_RETURN(out_axis, FeatureAxis(p, "output_quantization_axis", conv.out.feature));
  }
  TENON_ASSIGN_OR_RETURN(ProductScales scales, ReadProductScales(p, out, rhs_axis, out_axis));
  scales.features = out.dim(static_cast<int>(conv.out.feature));
  auto s = std::make_shared<Convolution>();
  s->axes = conv.axes;
  s->lhs = StridesOf(lhs, conv.lhs);
  s->rhs = StridesOf(rhs, conv.rhs);
  s->out = StridesOf(out, conv.out);
  s->batch = out.dim(static_cast<int>(conv.out.batch));
  s->rhs_features = rhs.dim(static_cast<int>(conv.rhs.feature));
  s->features_per_feature_group = scales.features / conv.feature_groups;
  s->features_per_batch_group = scales.features / conv.batch_groups;
  s->lhs_batch = SplitAt(lhs, static_cast<int>(conv.lhs.batch));
  s->scales = scales;
  p.set_output_shape(0, out);
  // An output without elements needs no run, and its axes no product of sizes.
  if (out.num_elements() == 0) return absl::OkStatus();
  s->out_places = s->window_places = 1;
  for (const UniformConvolutionAxis& axis : conv.axes) {
    s->out_places *= axis.out;
    s->window_places *= axis.size;
  }
  p.set_scratch_bytes(s->FactorBytes() + (scales.hybrid ? s->RowScaleBytes() + s->LhsBytes() : 0));
  p.set_run(&RunConvolution, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> UniformConvolutionKernels() {
  static const CpuKernelSpec specs[] = {
      {"UniformQuantizedConvolution", {{"Tin", kEveryType}}, PrepareConvolution},
      {"UniformQuantizedConvolutionHybrid", {{"Tlhs", kEveryType}}, PrepareConvolution},
  };
  return specs;
}

}  // namespace tenon::cpu
