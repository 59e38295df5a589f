// MaxPoolWithArgmax, which also says where each largest value was found, and the gradients that
// follow it there.
#include <limits>
#include <memory>

#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/cpu/nn/pool/pool_argmax_loops.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<ArgmaxPool> ReadArgmaxPool(const Prepare& p) {
  ArgmaxPool s;
  TENON_ASSIGN_OR_RETURN(s.pool, ReadPool(p, p.input_shape(0), {.max = true}));
  if (s.pool.depth_window != 1)
    return p.Unimplemented("pooling over channels with positions is not built");
  TENON_ASSIGN_OR_RETURN(const DataType index, p.AttrType("Targmax"));
  s.is64 = index == DataType::kInt64;
  TENON_ASSIGN_OR_RETURN(s.from_batch, p.AttrBool("include_batch_in_index"));
  return s;
}

absl::Status PrepareWithArgmax(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(ArgmaxPool s, ReadArgmaxPool(p));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, s.pool.OutputDims()));
  if (!s.is64 && p.input_shape(0).num_elements() > std::numeric_limits<int32_t>::max())
    return p.Invalid("positions in the input do not fit int32");
  p.set_output_shape(0, output);
  p.set_output_shape(1, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunWithArgmax, std::make_shared<ArgmaxPool>(s));
  return absl::OkStatus();
}

absl::Status PrepareArgmaxGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(ArgmaxPool s, ReadArgmaxPool(p));
  for (int i : {1, 2}) TENON_RETURN_IF_ERROR(CheckPooled(p, s.pool, i));
  p.set_output_shape(0, p.input_shape(0));
  if (p.input_shape(0).num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunArgmaxGrad, std::make_shared<ArgmaxPool>(s));
  return absl::OkStatus();
}

absl::Status PrepareArgmaxGradGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(ArgmaxPool s, ReadArgmaxPool(p));
  TENON_RETURN_IF_ERROR(CheckPooled(p, s.pool, 2));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 1, p.input_shape(0)));
  p.set_output_shape(0, p.input_shape(2));
  if (p.input_shape(2).num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunArgmaxGradGrad, std::make_shared<ArgmaxPool>(s));
  return absl::OkStatus();
}

const CpuKernelSpec kArgmaxPoolKernels[] = {
    {"MaxPoolWithArgmax", {{"T", kRealTypes}, {"Targmax", kIndexTypes}}, &PrepareWithArgmax},
    {"MaxPoolGradWithArgmax", {{"T", kRealTypes}, {"Targmax", kIndexTypes}}, &PrepareArgmaxGrad},
    {"MaxPoolGradGradWithArgmax",
     {{"T", kRealTypes}, {"Targmax", kIndexTypes}},
     &PrepareArgmaxGradGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> ArgmaxPoolKernels() { return kArgmaxPoolKernels; }

}  // namespace tenon::cpu
