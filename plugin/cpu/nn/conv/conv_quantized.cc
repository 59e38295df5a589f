// _TenonQuantizedConv2D: convolutions of floats that become bytes in the run with constant bytes.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/byte_sums.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/coded/byte_input.h"
#include "plugin/cpu/linalg/coded/coded_problem.h"
#include "plugin/cpu/linalg/coded/quantized_results.h"
#include "plugin/cpu/linalg/products/byte_constant.h"
#include "plugin/cpu/linalg/products/byte_conv.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct QuantizedConv {
  ByteInput input;
  ByteConv conv;
  ByteConstant filter;
  QuantizedResults results;
};

// Scratch: what the input becomes, then what the convolution takes.
absl::Status RunQuantizedConv(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const QuantizedConv*>(state);
  const int64_t n = s.conv.windows().out_channels, places = s.conv.windows().out_places();
  const ByteInput::Result images =
      s.input.Run(args, static_cast<const float*>(args.in[0]), args.scratch);
  const auto store = [&](int64_t image, int64_t first, int64_t count, const int32_t* sums) {
    s.results.Store(args, sums, count, n, images.scales[image], 0, (image * places + first) * n);
  };
  const absl::FunctionRef<void(int64_t, int64_t, int64_t, const int32_t*)> finish = store;
  return s.conv.Run(args, static_cast<char*>(args.scratch) + s.input.ScratchBytes(), images.bytes,
                    s.filter.Or(args.in[1]), {images.zeros, s.results.zeros(args)}, nullptr,
                    &finish);
}

absl::Status PrepareQuantizedConv(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p, 2));
  TENON_ASSIGN_OR_RETURN(const ConvProblem q,
                         ReadConv(p, attrs, p.input_shape(0), p.input_shape(1), false));
  if (q.groups != 1) {
    return p.Unimplemented(
        absl::StrCat("a convolution of bytes in ", q.groups, " groups is not built"));
  }
  TENON_RETURN_IF_ERROR(CheckByteTerms(p, q.window_places() * q.in_channels, kMostQuantizedTerms));
  TENON_ASSIGN_OR_RETURN(const FusedOps fused, ReadFusedOps(p, QuantizedResults::kFirstArg));
  if (fused.batch_norm >= 0)
    return p.Unimplemented("fused_ops [FusedBatchNorm] of a convolution of bytes is not built");
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, q.OutputDims()));
  TENON_RETURN_IF_ERROR(CheckFusedShapes(p, fused, output, attrs.channel()));
  TENON_ASSIGN_OR_RETURN(const auto results, QuantizedResults::Read(p, fused, q.out_channels));
  TENON_ASSIGN_OR_RETURN(const ByteInput input,
                         ByteInput::Read(p, q.batch, q.in_places() * q.in_channels));
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  const ByteConv conv(q, false, true);
  TENON_ASSIGN_OR_RETURN(const ByteConstant filter,
                         ByteConstant::Pack(p, 1, conv.filter(), q.window_places()));
  p.set_scratch_bytes(input.ScratchBytes() +
                      conv.ScratchBytes(p.workers(), true, filter.is_packed()));
  p.set_run(&RunQuantizedConv,
            std::make_shared<QuantizedConv>(QuantizedConv{input, conv, filter, results}));
  return absl::OkStatus();
}

const CpuKernelSpec kQuantizedConvKernels[] = {
    {"_TenonQuantizedConv2D", {{"T", TypeBit(DataType::kFloat)}}, &PrepareQuantizedConv},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizedConvKernels() { return kQuantizedConvKernels; }

}  // namespace tenon::cpu
