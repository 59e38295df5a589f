// Dilation2D, the grey-scale dilation of images: the largest sum of window and filter; and its
// gradients, which go to the first place where that sum was found.
#include <memory>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/window.h"
#include "plugin/cpu/nn/conv/dilation_loops.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<Dilation> ReadDilation(const Prepare& p) {
  const Shape& input = p.input_shape(0);
  const Shape& filter = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p, 2));
  if (attrs.strides[0] != 1 || attrs.strides[3] != 1)
    return p.Invalid("strides must be 1 for batch and channels");
  if (filter.rank() != 3)
    return p.Invalid(absl::StrCat("the filter must have rank 3, not ", filter.ToString()));
  Dilation s;
  s.type = p.input_type(0);
  TENON_ASSIGN_OR_RETURN(s.w, MakeWindows(p, attrs, input, filter.dims()));
  if (filter.dim(2) == s.w.in_channels) return s;
  return p.Invalid(
      absl::StrCat("the input has ", s.w.in_channels, " channels, the filter ", filter.dim(2)));
}

absl::Status PrepareDilation(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dilation s, ReadDilation(p));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, s.w.OutputDims()));
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  p.set_run(&RunDilation, std::make_shared<Dilation>(s));
  return absl::OkStatus();
}

// The gradient of input `of`.
absl::Status PrepareGrad(Prepare& p, int of) {
  TENON_ASSIGN_OR_RETURN(const Dilation s, ReadDilation(p));
  const Shape output(s.w.OutputDims());
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 2, output));
  p.set_output_shape(0, p.input_shape(of));
  if (p.input_shape(of).num_elements() == 0) return absl::OkStatus();
  p.set_scratch_bytes(DilationGradScratch(p.workers(), s.w, of));
  p.set_run(of == 0 ? &RunDilationInputGrad : &RunDilationFilterGrad,
            std::make_shared<Dilation>(s));
  return absl::OkStatus();
}

absl::Status PrepareDilationInputGrad(Prepare& p) { return PrepareGrad(p, 0); }
absl::Status PrepareDilationFilterGrad(Prepare& p) { return PrepareGrad(p, 1); }

const CpuKernelSpec kDilationKernels[] = {
    {"Dilation2D", {{"T", kRealTypes}}, &PrepareDilation},
    {"Dilation2DBackpropInput", {{"T", kRealTypes}}, &PrepareDilationInputGrad},
    {"Dilation2DBackpropFilter", {{"T", kRealTypes}}, &PrepareDilationFilterGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> DilationKernels() { return kDilationKernels; }

}  // namespace tenon::cpu
