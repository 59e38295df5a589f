// QuantizedMatMul and QuantizedConv2D: products of 8-bit values summed in 32 bits.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/window.h"
#include "plugin/cpu/quantize/byte_products.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/quantize/type_sets.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// What the two operands' values stand for.
struct Operands {
  ValueRange a, b;
  int32_t zero_a, zero_b;
};

absl::StatusOr<Operands> ReadOperands(const StepArgs& args, const QuantizedType& type) {
  const ValueRange a = InputRange(args, 2), b = InputRange(args, 4);
  TENON_RETURN_IF_ERROR(CheckRange(a, "a"));
  TENON_RETURN_IF_ERROR(CheckRange(b, "b"));
  return Operands{a, b, ZeroOf(type, a), ZeroOf(type, b)};
}

// --- QuantizedMatMul.

struct MatMul {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
};

absl::Status RunMatMul(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MatMul*>(state);
  const QuantizedType type = QuantizedTypeOf(DataType::kQuint8);
  TENON_ASSIGN_OR_RETURN(const Operands operands, ReadOperands(args, type));
  const auto* const a = static_cast<const uint8_t*>(args.in[0]);
  const auto* b = static_cast<const uint8_t*>(args.in[1]);
  if (s.transpose_b) {
    auto* const rows = static_cast<uint8_t*>(args.scratch);
    for (int64_t j = 0; j < s.n; ++j) {
      for (int64_t l = 0; l < s.k; ++l) rows[l * s.n + j] = b[j * s.k + l];
    }
    b = rows;
  }
  const ByteProducts<uint8_t> add = ChooseByteProducts().u8;
  args.workers->ParallelFor(s.m, GrainFor(s.n * s.k), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int32_t* const sums = static_cast<int32_t*>(args.out[0]) + i * s.n;
      std::fill(sums, sums + s.n, 0);
      AddByteRows(
          add, s.k,
          [&](int64_t l) {
            return WrappingSubtract(a[s.transpose_a ? l * s.m + i : i * s.k + l], operands.zero_a);
          },
          b, s.n, operands.zero_b, sums);
    }
  });
  StoreRange(args, 1, ProductRange(type, operands.a, type, operands.b));
  return absl::OkStatus();
}

absl::Status PrepareMatMul(Prepare& p) {
  const Shape &a = p.input_shape(0), &b = p.input_shape(1);
  if (a.rank() != 2 || b.rank() != 2)
    return p.Invalid(
        absl::StrCat("both ", a.ToString(), " and ", b.ToString(), " must be matrices"));
  auto s = std::make_shared<MatMul>();
  TENON_ASSIGN_OR_RETURN(s->transpose_a, p.AttrBool("transpose_a"));
  TENON_ASSIGN_OR_RETURN(s->transpose_b, p.AttrBool("transpose_b"));
  s->m = a.dim(s->transpose_a ? 1 : 0);
  s->k = a.dim(s->transpose_a ? 0 : 1);
  s->n = b.dim(s->transpose_b ? 0 : 1);
  if (b.dim(s->transpose_b ? 1 : 0) != s->k) {
    return p.Invalid(
        absl::StrCat("the sizes of ", a.ToString(), " and ", b.ToString(), " do not fit"));
  }
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 2, 6));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, {s->m, s->n}));
  SetQuantizedOutput(p, output);
  if (s->transpose_b) p.set_scratch_bytes(static_cast<size_t>(s->n * s->k));
  p.set_run(&RunMatMul, std::move(s));
  return absl::OkStatus();
}

// --- QuantizedConv2D.

struct Conv {
  int64_t batch, in_channels, out_channels;
  WindowAxis rows, columns;
};

// Pixels outside of the image stand for 0.
void ConvPixel(const Conv& s, const Operands& operands, const uint8_t* image, const uint8_t* filter,
               int64_t row, int64_t column, int32_t* sums) {
  const ByteProducts<uint8_t> add = ChooseByteProducts().u8;
  std::fill(sums, sums + s.out_channels, 0);
  for (int64_t i = 0; i < s.rows.size; ++i) {
    const int64_t y = row * s.rows.stride - s.rows.before + i;
    // Its term is (zero - zero) * weight.
    if (y < 0 || y >= s.rows.in) continue;
    for (int64_t j = 0; j < s.columns.size; ++j) {
      const int64_t x = column * s.columns.stride - s.columns.before + j;
      if (x < 0 || x >= s.columns.in) continue;
      const uint8_t* const pixel = image + (y * s.columns.in + x) * s.in_channels;
      const uint8_t* const weights =
          filter + (i * s.columns.size + j) * s.in_channels * s.out_channels;
      AddByteRows(
          add, s.in_channels,
          [&](int64_t c) { return WrappingSubtract(pixel[c], operands.zero_a); }, weights,
          s.out_channels, operands.zero_b, sums);
    }
  }
}

absl::Status RunConv(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Conv*>(state);
  const QuantizedType type = QuantizedTypeOf(DataType::kQuint8);
  TENON_ASSIGN_OR_RETURN(const Operands operands, ReadOperands(args, type));
  const auto* const images = static_cast<const uint8_t*>(args.in[0]);
  const auto* const filter = static_cast<const uint8_t*>(args.in[1]);
  const int64_t image = s.rows.in * s.columns.in * s.in_channels;
  const int64_t work = s.columns.out * s.rows.size * s.columns.size * s.in_channels;
  args.workers->ParallelFor(
      s.batch * s.rows.out, GrainFor(work * s.out_channels), [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t) {
          for (int64_t column = 0; column < s.columns.out; ++column) {
            ConvPixel(
                s, operands, images + t / s.rows.out * image, filter, t % s.rows.out, column,
                static_cast<int32_t*>(args.out[0]) + (t * s.columns.out + column) * s.out_channels);
          }
        }
      });
  StoreRange(args, 1, ProductRange(type, operands.a, type, operands.b));
  return absl::OkStatus();
}

// TensorFlow centres the windows over the input, whatever the padding, even windows that leave out
// some of the input. Kept, as callers see it in the results (DESIGN.md).
void Center(bool same, WindowAxis* axis) {
  // What the windows reach beyond the input; negative where they leave out some of it.
  const int64_t beyond = (axis->out - 1) * axis->stride + axis->size - axis->in;
  axis->before = (beyond + (same ? 0 : 1)) / 2;
}

absl::Status PrepareConv(Prepare& p) {
  const Shape &input = p.input_shape(0), &filter = p.input_shape(1);
  if (input.rank() != 4 || filter.rank() != 4 || filter.dim(2) != input.dim(3)) {
    return p.Invalid(absl::StrCat("the input ", input.ToString(), " and the filter ",
                                  filter.ToString(),
                                  " must have rank 4 and the same number of channels"));
  }
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p, 2));
  const Dims& strides = attrs.strides;
  if (strides[0] != 1 || strides[3] != 1 || strides[1] != strides[2])
    return p.Invalid("the strides must be 1 for batch and channels and equal otherwise");
  if (attrs.dilations != Dims(4, 1)) return p.Invalid("the dilations must be 1");
  auto s = std::make_shared<Conv>();
  s->batch = input.dim(0);
  s->in_channels = input.dim(3);
  s->out_channels = filter.dim(3);
  TENON_ASSIGN_OR_RETURN(s->rows, MakeWindowAxis(p, attrs, 0, input.dim(1), filter.dim(0)));
  TENON_ASSIGN_OR_RETURN(s->columns, MakeWindowAxis(p, attrs, 1, input.dim(2), filter.dim(1)));
  Center(attrs.padding == "SAME", &s->rows);
  Center(attrs.padding == "SAME", &s->columns);
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 2, 6));
  TENON_ASSIGN_OR_RETURN(const Shape output,
                         CheckedShape(p, {s->batch, s->rows.out, s->columns.out, s->out_channels}));
  SetQuantizedOutput(p, output);
  p.set_run(&RunConv, std::move(s));
  return absl::OkStatus();
}

const CpuKernelSpec kQuantizedProductKernels[] = {
    {"QuantizedMatMul", {{"T1", kQuint8}, {"T2", kQuint8}, {"Toutput", kQint32}}, &PrepareMatMul},
    {"QuantizedConv2D",
     {{"Tinput", kQuint8}, {"Tfilter", kQuint8}, {"out_type", kQint32}},
     &PrepareConv},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizedProductKernels() { return kQuantizedProductKernels; }

}  // namespace tenon::cpu
