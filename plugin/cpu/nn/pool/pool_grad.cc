// Gradients of MaxPool and AvgPool, and the gradients of those of MaxPool.
#include <memory>

#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/cpu/nn/pool/pool_grad_loops.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status PrepareGrad(Prepare& p, const Shape& input, const PoolOp& op) {
  TENON_ASSIGN_OR_RETURN(const Pool s, ReadPool(p, input, op));
  if (s.depth_window != 1)
    return p.Unimplemented("the gradient of pooling over channels is not built");
  for (int i = 1; i <= (op.max ? 2 : 1); ++i) TENON_RETURN_IF_ERROR(CheckPooled(p, s, i));
  p.set_output_shape(0, input);
  if (input.num_elements() == 0) return absl::OkStatus();
  p.set_scratch_bytes(PoolGradScratch(p.workers(), s));
  p.set_run(&RunPoolGrad, std::make_shared<Pool>(s));
  return absl::OkStatus();
}

absl::Status PrepareAverageGrad(Prepare& p, int spatial_dims) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  TENON_ASSIGN_OR_RETURN(const Shape input, CheckedShape(p, dims));
  return PrepareGrad(p, input, {.spatial_dims = spatial_dims});
}

absl::Status PrepareGradGrad(Prepare& p, const PoolOp& op) {
  TENON_ASSIGN_OR_RETURN(const Pool s, ReadPool(p, p.input_shape(0), op));
  if (s.depth_window != 1)
    return p.Unimplemented("the gradient of pooling over channels is not built");
  TENON_RETURN_IF_ERROR(CheckPooled(p, s, 1));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 2, p.input_shape(0)));
  p.set_output_shape(0, p.input_shape(1));
  if (p.input_shape(1).num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunGradGrad, std::make_shared<Pool>(s));
  return absl::OkStatus();
}

constexpr PoolOp kMax{.max = true}, kMaxV2{.max = true, .sizes_input = 3},
    kMax3D{.max = true, .spatial_dims = 3};

template <const PoolOp& kOp>
absl::Status MaxGrad(Prepare& p) {
  return PrepareGrad(p, p.input_shape(0), kOp);
}
template <const PoolOp& kOp>
absl::Status MaxGradGrad(Prepare& p) {
  return PrepareGradGrad(p, kOp);
}
template <int kSpatialDims>
absl::Status AverageGrad(Prepare& p) {
  return PrepareAverageGrad(p, kSpatialDims);
}

const CpuKernelSpec kPoolGradKernels[] = {
    {"MaxPoolGrad", {{"T", kRealTypes}}, &MaxGrad<kMax>},
    {"MaxPoolGradV2", {{"T", kRealTypes}}, &MaxGrad<kMaxV2>, 0b11000},
    {"MaxPool3DGrad", {{"T", kFloatTypes}}, &MaxGrad<kMax3D>},
    {"MaxPoolGradGrad", {{"T", kRealTypes}}, &MaxGradGrad<kMax>},
    {"MaxPoolGradGradV2", {{"T", kRealTypes}}, &MaxGradGrad<kMaxV2>, 0b11000},
    {"MaxPool3DGradGrad", {{"T", kRealTypes}}, &MaxGradGrad<kMax3D>},
    {"AvgPoolGrad", {{"T", kFloatTypes}}, &AverageGrad<2>, 0b1},
    {"AvgPool3DGrad", {{"T", kFloatTypes}}, &AverageGrad<3>, 0b1},
};

}  // namespace

absl::Span<const CpuKernelSpec> PoolGradKernels() { return kPoolGradKernels; }

}  // namespace tenon::cpu
