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
  const int64_t places = s.conv.windows().out_places();
  const ByteInput::Result images =
      s.input.Run(args, static_cast<const float*>(args.in[0]), args.scratch);
  return s.conv.RunParts(
      args, static_cast<char*>(args.scratch) + s.input.ScratchBytes(), images.bytes,
      s.filter.Or(args.in[1]), {images.zeros, s.results.zeros(args)},
      [&](const ByteConv::Part& part) {
        s.results.Store(args, {part.sums, part.row, part.count, part.begin, part.end, part.offsets},
                        images.scales[part.image], part.image * places + part.first);
      });
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
  const ByteConv conv(q, false, true, /*by_parts=*/true);
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
