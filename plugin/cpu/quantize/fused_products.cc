// Quantized convolutions and products with an int8 filter and what is fused to them.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/window.h"
#include "plugin/cpu/linalg/products/byte_constant.h"
#include "plugin/cpu/linalg/products/byte_conv.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/cpu/quantize/fused_results.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/type_sets.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

constexpr uint64_t kFloat = TypeBit(DataType::kFloat);
constexpr uint64_t kWide = kFloat | TypeBit(DataType::kBfloat16);

// Calls f(data) with the first factor, which is uint8 or int8.
template <typename F>
void VisitBytes(DataType type, const void* data, F f) {
  if (type == DataType::kQuint8) return f(static_cast<const uint8_t*>(data));
  f(static_cast<const int8_t*>(data));
}

// --- Convolutions.

struct FusedConv {
  FusedResults results;
  ByteConv conv;
  ByteConstant filter;
};

// The sums of an int8 or quint8 factor and an int8 filter, without zero points: the ranges of both
// map byte 0 to 0.
absl::Status RunFusedConv(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FusedConv*>(state);
  TENON_ASSIGN_OR_RETURN(const FusedResults::Channels channels, s.results.Start(args));
  const int64_t places = s.conv.windows().out_places(), n = s.conv.windows().out_channels;
  const auto store = [&](int64_t image, int64_t first, int64_t count, const int32_t* sums) {
    for (int64_t i = 0; i < count; ++i)
      s.results.Store(args, channels, sums + i * n, n, (image * places + first + i) * n);
  };
  const absl::FunctionRef<void(int64_t, int64_t, int64_t, const int32_t*)> finish = store;
  constexpr int32_t kZero = 0;
  return s.conv.Run(args, static_cast<char*>(args.scratch) + s.results.ChannelBytes(), args.in[0],
                    s.filter.Or(args.in[1]), {{&kZero, 1}, {&kZero, 1}}, nullptr, &finish);
}

struct FusedDepthwise {
  FusedResults results;
  DataType in_type;
  Windows w;
  int64_t multiplier;
};

// A filter is [rows, columns, in_channels, multiplier]: each input channel writes outputs of its
// own. Places in the padding are passed over, so they count as byte 0, whatever number the range
// gives to it. A product of bytes fits int32.
template <typename T>
void DepthwisePixel(const FusedDepthwise& s, const T* images, const int8_t* filter, int64_t image,
                    int64_t out, int32_t* sums) {
  std::fill(sums, sums + s.w.out_channels, 0);
  s.w.ForEachInWindow(out, [&](int64_t in, int64_t place) {
    const T* const pixel = images + s.w.InputAt(image, in);
    const int8_t* const weights = filter + place * s.w.out_channels;
    if (s.multiplier == 1) {
      for (int64_t c = 0; c < s.w.in_channels; ++c)
        sums[c] = WrappingAdd(sums[c], pixel[c] * weights[c]);
      return;
    }
    for (int64_t c = 0; c < s.w.out_channels; ++c)
      sums[c] = WrappingAdd(sums[c], pixel[c / s.multiplier] * weights[c]);
  });
}

absl::Status RunFusedDepthwise(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FusedDepthwise*>(state);
  TENON_ASSIGN_OR_RETURN(const FusedResults::Channels channels, s.results.Start(args));
  auto* const all_sums =
      reinterpret_cast<int32_t*>(static_cast<char*>(args.scratch) + s.results.ChannelBytes());
  const int64_t places = s.w.out_places(), n = s.w.out_channels, columns = s.w.columns.out;
  const int64_t work = columns * s.w.window_places() * n;
  VisitBytes(s.in_type, args.in[0], [&](const auto* images) {
    args.workers->ParallelFor(s.w.batch * s.w.rows.out, GrainFor(work),
                              [&](int64_t begin, int64_t end) {
                                // A range takes the sums that belong to its first row: no two
                                // ranges have the same first row.
                                int32_t* const sums = all_sums + begin * n;
                                for (int64_t t = begin * columns; t < end * columns; ++t) {
                                  DepthwisePixel(s, images, static_cast<const int8_t*>(args.in[1]),
                                                 t / places, t % places, sums);
                                  s.results.Store(args, channels, sums, n, t * n);
                                }
                              });
  });
  return absl::OkStatus();
}

absl::Status PrepareConv(Prepare& p, const Fusion& fusion, bool depthwise) {
  const Shape &input = p.input_shape(0), &filter = p.input_shape(1);
  if (input.rank() != 4 || filter.rank() != 4 || filter.dim(2) != input.dim(3)) {
    return p.Invalid(absl::StrCat("the input ", input.ToString(), " and the filter ",
                                  filter.ToString(),
                                  " must have rank 4 and the same number of channels"));
  }
  if (p.op().FindAttr("padding_list") != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> list, p.AttrIntList("padding_list"));
    if (!list.empty()) return p.Unimplemented("attribute 'padding_list' is not built");
  }
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p, 2));
  if (attrs.strides[0] != 1 || attrs.strides[attrs.channel()] != 1)
    return p.Unimplemented("strides of batch and channels other than 1 are not built");
  Windows w;
  w.batch = input.dim(0);
  w.in_channels = input.dim(3);
  TENON_ASSIGN_OR_RETURN(w.rows, MakeWindowAxis(p, attrs, 0, input.dim(1), filter.dim(0)));
  TENON_ASSIGN_OR_RETURN(w.columns, MakeWindowAxis(p, attrs, 1, input.dim(2), filter.dim(1)));
  w.out_channels = filter.dim(3);
  // Both factors come from the filter's shape, which may hold no element and be of any size.
  if (depthwise && __builtin_mul_overflow(filter.dim(2), filter.dim(3), &w.out_channels))
    return p.Invalid("the output has too many channels");
  TENON_ASSIGN_OR_RETURN(const Shape out,
                         CheckedShape(p, {w.batch, w.rows.out, w.columns.out, w.out_channels}));
  TENON_ASSIGN_OR_RETURN(const FusedResults results, FusedResults::Make(p, fusion, out));
  if (out.num_elements() == 0) return absl::OkStatus();
  if (depthwise) {
    // A row of sums for each row of pixels, whoever computes it.
    p.set_scratch_bytes(results.ChannelBytes() +
                        w.batch * w.rows.out * w.out_channels * sizeof(int32_t));
    p.set_run(&RunFusedDepthwise, std::make_shared<FusedDepthwise>(
                                      FusedDepthwise{results, p.input_type(0), w, filter.dim(3)}));
    return absl::OkStatus();
  }
  const ByteConv conv(w, p.input_type(0) == DataType::kQint8, true);
  TENON_ASSIGN_OR_RETURN(const ByteConstant packed,
                         ByteConstant::Pack(p, 1, conv.filter(), w.window_places()));
  p.set_scratch_bytes(results.ChannelBytes() +
                      conv.ScratchBytes(p.workers(), true, packed.is_packed()));
  p.set_run(&RunFusedConv, std::make_shared<FusedConv>(FusedConv{results, conv, packed}));
  return absl::OkStatus();
}

template <Fusion kFusion, bool kDepthwise = false>
absl::Status PrepareConv(Prepare& p) {
  return PrepareConv(p, kFusion, kDepthwise);
}

// --- Products of matrices.

struct FusedMatMul {
  FusedResults results;
  ByteMatMul product;
  ByteConstant right;
  int64_t n;
  size_t sum_bytes;
};

// Scratch: the channels, the sums, then what the product takes.
absl::Status RunFusedMatMul(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FusedMatMul*>(state);
  TENON_ASSIGN_OR_RETURN(const FusedResults::Channels channels, s.results.Start(args));
  char* const memory = static_cast<char*>(args.scratch) + s.results.ChannelBytes();
  auto* const sums = reinterpret_cast<int32_t*>(memory);
  const auto store = [&](int64_t row, int64_t begin, int64_t end) {
    s.results.Store(args, channels.From(begin), sums + row * s.n + begin, end - begin,
                    row * s.n + begin);
  };
  const absl::FunctionRef<void(int64_t, int64_t, int64_t)> finish = store;
  constexpr int32_t kZero = 0;
  s.product.Run(*args.workers, args.in[0], s.right.Or(args.in[1]), {{&kZero, 1}, {&kZero, 1}},
                memory + s.sum_bytes, sums, &finish);
  return absl::OkStatus();
}

absl::Status PrepareMatMul(Prepare& p, const Fusion& fusion) {
  const Shape &a = p.input_shape(0), &b = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const bool transpose_a, p.AttrBool("transpose_a"));
  TENON_ASSIGN_OR_RETURN(const bool transpose_b, p.AttrBool("transpose_b"));
  if (transpose_a || transpose_b) return p.Unimplemented("transposed matrices are not built");
  if (a.rank() != 2 || b.rank() != 2 || a.dim(1) != b.dim(0)) {
    return p.Invalid(
        absl::StrCat(a.ToString(), " and ", b.ToString(), " are no matrices with a product"));
  }
  // Inputs 5 and 6 are the range of the second factor. Here, unlike in convolutions, it may not
  // have one range per channel.
  if (!fusion.in_lists) TENON_RETURN_IF_ERROR(CheckSingleValues(p, 5, 7));
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, {a.dim(0), b.dim(1)}));
  TENON_ASSIGN_OR_RETURN(const FusedResults results, FusedResults::Make(p, fusion, out));
  if (out.num_elements() == 0) return absl::OkStatus();
  const ByteMatMul product(a.dim(0), a.dim(1), b.dim(1), {p.input_type(0) == DataType::kQint8},
                           {true});
  const size_t sum_bytes = AlignedBytes(out.num_elements() * sizeof(int32_t));
  TENON_ASSIGN_OR_RETURN(const ByteConstant right, ByteConstant::Pack(p, 1, product.right()));
  TENON_ASSIGN_OR_RETURN(const size_t scratch, product.ScratchBytes(right.is_packed()));
  p.set_scratch_bytes(results.ChannelBytes() + sum_bytes + scratch);
  p.set_run(&RunFusedMatMul, std::make_shared<FusedMatMul>(
                                 FusedMatMul{results, product, right, b.dim(1), sum_bytes}));
  return absl::OkStatus();
}

template <Fusion kFusion>
absl::Status PrepareMatMul(Prepare& p) {
  return PrepareMatMul(p, kFusion);
}

// --- Ops that name what is fused, and have lists of inputs.

// OK if these are the types of the inputs and outputs that the fusion needs.
absl::Status CheckListedTypes(const Prepare& p, const Fusion& fusion) {
  const auto is_float = [](DataType t) { return t == DataType::kFloat; };
  const auto is_wide = [&](DataType t) { return is_float(t) || t == DataType::kBfloat16; };
  // The lists' types are attributes of the node, so no type constraint of the kernel's row has
  // checked them.
  TypeVector types;
  for (int i = 0; i < p.num_inputs(); ++i) types.push_back(p.input_type(i));
  const int factors = 2 + (fusion.bias ? 1 : 0) + (fusion.summand ? 1 : 0);
  const int inputs = factors + 4 + (fusion.AsksForRange() ? 2 : 0);
  bool right =
      p.num_inputs() == inputs && HasType(kBytes, types[0]) && types[1] == DataType::kQint8;
  right = right && (!fusion.bias || is_wide(types[2]) || types[2] == DataType::kQint32);
  right = right && (!fusion.summand || is_wide(types[factors - 1]));
  for (int i = factors; right && i < inputs; ++i) right = is_float(types[i]);
  const int outputs = p.num_outputs();
  right = right && outputs == (fusion.dequantize ? 1 : 3);
  for (int i = 1; right && i < outputs; ++i) right = is_float(p.output_type(i));
  if (!right) {
    return p.Invalid(
        "the inputs must be the factors, what is fused, and the ranges of the factors and, to "
        "requantize, of the result; the outputs the result and, unless it is float, its range");
  }
  const DataType out = p.output_type(0);
  if (fusion.requantize   ? HasType(kBytes, out)
      : fusion.dequantize ? is_wide(out)
                          : out == DataType::kQint32)
    return absl::OkStatus();
  return p.Unimplemented(absl::StrCat("a result of ", DataTypeName(out), " is not built"));
}

// Reads fused_ops: what `allowed` has of BiasAdd, Add, an activation, and Requantize or Dequantize.
// UNIMPLEMENTED for anything else.
absl::StatusOr<Fusion> ReadFusion(const Prepare& p, const Fusion& allowed) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names, p.AttrStringList("fused_ops"));
  Fusion fusion;
  fusion.in_lists = true;
  size_t i = 0;
  const auto next_is = [&](bool may_be, std::string_view name) {
    return may_be && i < names.size() && names[i] == name && ++i > 0;
  };
  fusion.bias = next_is(allowed.bias, "BiasAdd");
  fusion.summand = next_is(allowed.summand, "Add");
  if (i < names.size()) {
    const std::optional<Activation> activation = ActivationNamed(names[i]);
    if (activation.has_value() &&
        // An op whose allowance says Relu takes Relu alone; kNone, the default, stands for any
        // activation.
        (*activation == Activation::kRelu || allowed.activation != Activation::kRelu)) {
      fusion.activation = *activation;
      ++i;
    }
  }
  fusion.requantize = next_is(allowed.requantize, "Requantize");
  fusion.dequantize = !fusion.requantize && next_is(allowed.dequantize, "Dequantize");
  // As in TensorFlow, nothing but Dequantize goes with Add.
  const bool only_dequantizes = fusion.dequantize && fusion.activation == Activation::kNone;
  if (i < names.size() || (fusion.summand && !only_dequantizes)) {
    return p.Unimplemented(
        absl::StrCat("fused_ops [", absl::StrJoin(names, ", "), "] is not built"));
  }
  return fusion;
}

template <bool kDepthwise>
absl::Status PrepareListedConv(Prepare& p) {
  constexpr Fusion kAllowed{.bias = true, .activation = Activation::kRelu, .requantize = true};
  TENON_ASSIGN_OR_RETURN(const Fusion fusion, ReadFusion(p, kAllowed));
  TENON_RETURN_IF_ERROR(CheckListedTypes(p, fusion));
  return PrepareConv(p, fusion, kDepthwise);
}

absl::Status PrepareListedMatMul(Prepare& p) {
  constexpr Fusion kAllowed{.bias = true, .summand = true, .requantize = true, .dequantize = true};
  TENON_ASSIGN_OR_RETURN(Fusion fusion, ReadFusion(p, kAllowed));
  TENON_ASSIGN_OR_RETURN(fusion.alpha, p.AttrFloat("leakyrelu_alpha"));
  TENON_RETURN_IF_ERROR(CheckListedTypes(p, fusion));
  if (!fusion.bias || !(fusion.requantize || fusion.dequantize))
    return p.Unimplemented("fused_ops without BiasAdd, and Requantize or Dequantize, is not built");
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, p.AttrString("input_quant_mode"));
  if (mode == "SCALED" && p.input_type(2) == DataType::kQint32)
    return p.Unimplemented("a DT_QINT32 bias for SCALED inputs is not built");
  fusion.symmetric = p.output_type(0) == DataType::kQint8;
  return PrepareMatMul(p, fusion);
}

// Template arguments of the rows below: one instance of the Prepare functions per fusion.
constexpr Fusion kPlain{}, kRelu{.activation = Activation::kRelu}, kRequantize{.requantize = true},
    kReluRequantize{.activation = Activation::kRelu, .requantize = true}, kWithBias{.bias = true},
    kBiasRelu{.bias = true, .activation = Activation::kRelu},
    kBiasRequantize{.bias = true, .requantize = true},
    kBiasReluRequantize{.bias = true, .activation = Activation::kRelu, .requantize = true},
    kBiasDequantize{.bias = true, .dequantize = true},
    kBiasSumRelu{.bias = true, .summand = true, .activation = Activation::kRelu},
    kBiasSumReluRequantize{
        .bias = true, .summand = true, .activation = Activation::kRelu, .requantize = true};

absl::InlinedVector<TypeConstraint, 2> Convolves(uint64_t in, uint64_t out) {
  return {{"Tinput", in}, {"Tfilter", kQint8}, {"out_type", out}};
}
absl::InlinedVector<TypeConstraint, 2> Adds(uint64_t summand) {
  auto types = Convolves(kQuint8, kQuint8);
  types.push_back({"Tsummand", summand});
  return types;
}
absl::InlinedVector<TypeConstraint, 2> Multiplies(uint64_t out) {
  return {{"T1", kQuint8}, {"T2", kQint8}, {"Toutput", out}};
}

}  // namespace

absl::Span<const CpuKernelSpec> QuantizedFusedKernels() {
  static const CpuKernelSpec specs[] = {
      {"QuantizedConv2D", Convolves(kQuint8, kQint32), PrepareConv<kPlain>},
      {"QuantizedConv2DPerChannel", Convolves(kQuint8, kQint32), PrepareConv<kPlain>},
      {"QuantizedConv2DAndRelu", Convolves(kQuint8, kQint32), PrepareConv<kRelu>},
      {"QuantizedConv2DAndRequantize", Convolves(kQuint8, kQint8), PrepareConv<kRequantize>},
      {"QuantizedConv2DAndReluAndRequantize", Convolves(kQuint8, kQuint8),
       PrepareConv<kReluRequantize>},
      {"QuantizedConv2DWithBias", Convolves(kBytes, kQint32), PrepareConv<kWithBias>},
      {"QuantizedConv2DWithBiasAndRelu", Convolves(kBytes, kQint32), PrepareConv<kBiasRelu>},
      {"QuantizedConv2DWithBiasAndRequantize", Convolves(kBytes, kQint8),
       PrepareConv<kBiasRequantize>},
      {"QuantizedConv2DWithBiasAndReluAndRequantize", Convolves(kBytes, kQuint8),
       PrepareConv<kBiasReluRequantize>},
      {"QuantizedConv2DWithBiasSumAndRelu", Convolves(kQuint8, kQint32), PrepareConv<kBiasSumRelu>},
      {"QuantizedConv2DWithBiasSumAndReluAndRequantize", Adds(kQuint8),
       PrepareConv<kBiasSumReluRequantize>},
      {"QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", Adds(kQint8),
       PrepareConv<kBiasSumReluRequantize>},
      {"QuantizedDepthwiseConv2D", Convolves(kQuint8, kQint32), PrepareConv<kPlain, true>},
      {"QuantizedDepthwiseConv2DWithBias", Convolves(kQuint8, kQint32),
       PrepareConv<kWithBias, true>},
      {"QuantizedDepthwiseConv2DWithBiasAndRelu", Convolves(kQuint8, kQint32),
       PrepareConv<kBiasRelu, true>},
      {"QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", Convolves(kQuint8, kQuint8),
       PrepareConv<kBiasReluRequantize, true>},
      {"QuantizedMatMulWithBias", Multiplies(kQint32), PrepareMatMul<kWithBias>},
      {"QuantizedMatMulWithBiasAndRelu", Multiplies(kQint32), PrepareMatMul<kBiasRelu>},
      {"QuantizedMatMulWithBiasAndDequantize", Multiplies(kFloat), PrepareMatMul<kBiasDequantize>},
      {"QuantizedMatMulWithBiasAndRequantize", Multiplies(kQuint8), PrepareMatMul<kBiasRequantize>},
      {"QuantizedMatMulWithBiasAndReluAndRequantize", Multiplies(kQuint8),
       PrepareMatMul<kBiasReluRequantize>},
      {"_FusedQuantizedConv2D", Convolves(kBytes, kBytes | kQint32), PrepareListedConv<false>},
      {"_FusedQuantizedDepthwiseConv2D", Convolves(kBytes, kBytes | kQint32),
       PrepareListedConv<true>},
      {"_QuantizedMatMul",
       {{"T1", kBytes},
        {"T2", kQint8},
        {"Tbias", kWide | kQint32},
        {"U", kWide},
        {"Tout", kWide | kBytes | kQint32}},
       PrepareListedMatMul},
  };
  return specs;
}

}  // namespace tenon::cpu
