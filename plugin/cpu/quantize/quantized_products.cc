// QuantizedMatMul and QuantizedConv2D: products of 8-bit values summed in 32 bits.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/window.h"
#include "plugin/cpu/linalg/products/byte_constant.h"
#include "plugin/cpu/linalg/products/byte_conv.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/quantize/type_sets.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

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

struct ByteMatMulStep {
  ByteMatMul product;
  ByteConstant right;
};

absl::Status RunMatMul(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ByteMatMulStep*>(state);
  const QuantizedType type = QuantizedTypeOf(DataType::kQuint8);
  TENON_ASSIGN_OR_RETURN(const Operands operands, ReadOperands(args, type));
  s.product.Run(*args.workers, args.in[0], s.right.Or(args.in[1]),
                {{&operands.zero_a, 1}, {&operands.zero_b, 1}}, args.scratch,
                static_cast<int32_t*>(args.out[0]), nullptr);
  StoreRange(args, 1, ProductRange(type, operands.a, type, operands.b));
  return absl::OkStatus();
}

absl::Status PrepareMatMul(Prepare& p) {
  const Shape &a = p.input_shape(0), &b = p.input_shape(1);
  if (a.rank() != 2 || b.rank() != 2)
    return p.Invalid(
        absl::StrCat("both ", a.ToString(), " and ", b.ToString(), " must be matrices"));
  TENON_ASSIGN_OR_RETURN(const bool transpose_a, p.AttrBool("transpose_a"));
  TENON_ASSIGN_OR_RETURN(const bool transpose_b, p.AttrBool("transpose_b"));
  const int64_t m = a.dim(transpose_a ? 1 : 0), k = a.dim(transpose_a ? 0 : 1);
  const int64_t n = b.dim(transpose_b ? 0 : 1);
  if (b.dim(transpose_b ? 1 : 0) != k) {
    return p.Invalid(
        absl::StrCat("the sizes of ", a.ToString(), " and ", b.ToString(), " do not fit"));
  }
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 2, 6));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, {m, n}));
  SetQuantizedOutput(p, output);
  const ByteMatMul product(m, k, n, ByteSide{false, transpose_a}, ByteSide{false, transpose_b});
  TENON_ASSIGN_OR_RETURN(const ByteConstant right, ByteConstant::Pack(p, 1, product.right()));
  TENON_ASSIGN_OR_RETURN(const size_t scratch, product.ScratchBytes(right.is_packed()));
  p.set_scratch_bytes(scratch);
  p.set_run(&RunMatMul, std::make_shared<ByteMatMulStep>(ByteMatMulStep{product, right}));
  return absl::OkStatus();
}

// --- QuantizedConv2D.

struct ByteConvStep {
  ByteConv conv;
  ByteConstant filter;
};

// Pixels outside of the image stand for 0.
absl::Status RunConv(const void* state, const StepArgs& args) {
  const QuantizedType type = QuantizedTypeOf(DataType::kQuint8);
  TENON_ASSIGN_OR_RETURN(const Operands operands, ReadOperands(args, type));
  const auto& s = *static_cast<const ByteConvStep*>(state);
  TENON_RETURN_IF_ERROR(s.conv.Run(args, args.scratch, args.in[0], s.filter.Or(args.in[1]),
                                   {{&operands.zero_a, 1}, {&operands.zero_b, 1}},
                                   static_cast<int32_t*>(args.out[0]), nullptr));
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
  Windows w;
  w.batch = input.dim(0);
  w.in_channels = input.dim(3);
  w.out_channels = filter.dim(3);
  TENON_ASSIGN_OR_RETURN(w.rows, MakeWindowAxis(p, attrs, 0, input.dim(1), filter.dim(0)));
  TENON_ASSIGN_OR_RETURN(w.columns, MakeWindowAxis(p, attrs, 1, input.dim(2), filter.dim(1)));
  Center(attrs.padding == "SAME", &w.rows);
  Center(attrs.padding == "SAME", &w.columns);
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 2, 6));
  TENON_ASSIGN_OR_RETURN(const Shape output,
                         CheckedShape(p, {w.batch, w.rows.out, w.columns.out, w.out_channels}));
  SetQuantizedOutput(p, output);
  const ByteConv conv(w, false, false);
  TENON_ASSIGN_OR_RETURN(const ByteConstant packed,
                         ByteConstant::Pack(p, 1, conv.filter(), w.window_places()));
  // Without elements the range is all there is to write.
  if (output.num_elements() > 0)
    p.set_scratch_bytes(conv.ScratchBytes(p.workers(), false, packed.is_packed()));
  p.set_run(&RunConv, std::make_shared<ByteConvStep>(ByteConvStep{conv, packed}));
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
