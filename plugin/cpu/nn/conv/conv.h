// Convolutions over images and volumes: what they, their fused forms and their gradients share.
#pragma once

#include <cstdint>
#include <string_view>

#include "plugin/cpu/base/window.h"
#include "plugin/cpu/linalg/products/fused_ops.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Input 0 is the images or volumes, input 1 the filter [(planes,) rows, columns, in_channels /
// groups, out_channels]. A depthwise filter [rows, columns, in_channels, multiplier] lies in memory
// like one of as many groups as there are channels.
struct ConvProblem : Windows {
  int64_t groups = 1;
  FusedOps fused;

  int64_t in_per_group() const { return in_channels / groups; }
  int64_t out_per_group() const { return out_channels / groups; }
  // Elements of the filter at one of its places.
  int64_t place_elements() const { return in_per_group() * out_channels; }
  double flops() const {
    return 2.0 * static_cast<double>(batch * out_places()) *
           static_cast<double>(window_places() * place_elements());
  }
};

// The problem from its shapes and the node's attributes. INVALID_ARGUMENT says what does not fit.
absl::StatusOr<ConvProblem> ReadConv(const Prepare& p, const WindowAttrs& attrs, const Shape& input,
                                     const Shape& filter, bool depthwise);

// UNIMPLEMENTED if it is none of the usual depthwise ones.
absl::Status PrepareDepthwiseRows(Prepare& p, const ConvProblem& problem);
// UNIMPLEMENTED if oneDNN has no primitive, or its reference code alone.
absl::Status PrepareOneDnnConv(Prepare& p, const ConvProblem& problem);
// Windows of any kind in floats. UNIMPLEMENTED unless the type is float, half or bfloat16.
absl::Status PrepareWindowConv(Prepare& p, const ConvProblem& problem);
// Any type, plain loops.
absl::Status PrepareAnyConv(Prepare& p, const ConvProblem& problem);

// The whole preparation of _FusedConv2D of int8 or qint8.
absl::Status PrepareInt8Conv(Prepare& p);

// The gradients: of the input from filter (input 1) and the output's gradient (input 2), of the
// filter from the input (input 0) and the output's gradient. As above.
absl::Status PrepareOneDnnInputGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareWindowInputGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareAnyInputGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareOneDnnFilterGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareWindowFilterGrad(Prepare& p, const ConvProblem& problem);
absl::Status PrepareAnyFilterGrad(Prepare& p, const ConvProblem& problem);

}  // namespace tenon::cpu
