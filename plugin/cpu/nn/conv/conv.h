// Shared code of the convolutions over images and volumes, their fused forms and their gradients.
#pragma once

#include <cstdint>
#include <string_view>

#include "plugin/cpu/base/window.h"
#include "plugin/cpu/linalg/products/fused_ops.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// A forward convolution: the Windows are those over its input. The filter's shape is [(planes,)
// rows, columns, in_channels / groups, out_channels]. A depthwise filter [rows, columns,
// in_channels, multiplier] has the same memory layout as a filter of in_channels groups. In the
// forward ops input 0 is the images or volumes and input 1 the filter.
struct ConvProblem : Windows {
  int64_t groups = 1;
  FusedOps fused;  // of the forward ops

  int64_t in_per_group() const { return in_channels / groups; }
  int64_t out_per_group() const { return out_channels / groups; }
  // Elements of the filter at one window place.
  int64_t place_elements() const { return in_per_group() * out_channels; }
  double flops() const {
    return 2.0 * static_cast<double>(batch * out_places()) *
           static_cast<double>(window_places() * place_elements());
  }
};

// Returns the convolution of an input and a filter of these shapes by the node's attributes,
// without fused operations. `depthwise` says how to read the filter's last two dimensions.
// INVALID_ARGUMENT if the shapes do not fit each other or the attributes, or if an attribute does
// not suit a convolution (strides of batch or channels other than 1, and unequal strides of rows
// and columns of a depthwise one). With attrs.empty_windows, groups need not divide the output's
// channels, and a filter may have no places: the caller refuses them where there is an output to
// compute. UNIMPLEMENTED for a filter_format other than HWIO.
absl::StatusOr<ConvProblem> ReadConv(const Prepare& p, const WindowAttrs& attrs, const Shape& input,
                                     const Shape& filter, bool depthwise);

// The implementations, the fastest first. The caller has set the output's shape, and has seen to it
// that the output is not empty. Each implementation sets the run function of the step, or returns
// UNIMPLEMENTED: then the caller tries the next. Any other error is final.
//
// For the common depthwise convolutions (nn/conv/depthwise_rows.h).
absl::Status PrepareDepthwiseRows(Prepare& p, const ConvProblem& problem);
// With oneDNN. The caller has seen to it that OneDnnType() has the type, that the input is not
// empty and that problem.starts_inside() is false. UNIMPLEMENTED if oneDNN has no primitive, or
// none that is fast; else the errors of Guarded().
absl::Status PrepareOneDnnConv(Prepare& p, const ConvProblem& problem);
// For half and bfloat16: the same convolution of floats, between conversions of whole tensors.
absl::Status PrepareWidenedConv(Prepare& p);
// For windows of any kind over an input that is not empty, computed in floats. UNIMPLEMENTED unless
// the type is float, half or bfloat16, or if the filter is empty. RESOURCE_EXHAUSTED if there is no
// memory for a packed filter.
absl::Status PrepareWindowConv(Prepare& p, const ConvProblem& problem);
// For any real number type, with plain loops.
absl::Status PrepareAnyConv(Prepare& p, const ConvProblem& problem);

// Does the whole preparation of a _FusedConv2D node of type int8 or qint8.
absl::Status PrepareInt8Conv(Prepare& p);

// The same implementations of the gradients, under the same conditions. Output 0 is the gradient.
// The input's gradient is computed from the filter (input 1) and the output's gradient (input 2),
// the filter's gradient from the forward op's input (input 0) and the output's gradient (input 2).
// The OneDnn and Window functions want inputs that are not empty. The caller sees to it that
// PrepareOneDnnFilterGrad gets float alone, and PrepareAnyFilterGrad floating-point types alone;
// PrepareWindowFilterGrad returns UNIMPLEMENTED for any type but float.
absl::Status PrepareOneDnnInputGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareWindowInputGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareAnyInputGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareOneDnnFilterGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareWindowFilterGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareAnyFilterGrad(Prepare& p, const ConvProblem& problem);

}  // namespace tenon::cpu
