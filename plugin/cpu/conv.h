// Two-dimensional convolutions: what Conv2D, DepthwiseConv2dNative and their fused forms share.
#pragma once

#include <cstdint>
#include <string_view>

#include "plugin/cpu/fused_ops.h"
#include "plugin/cpu/window.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

// Input 0 is [batch, rows, columns, in_channels] (or NCHW), input 1 the filter [rows, columns,
// in_channels / groups, out_channels], for a depthwise one [rows, columns, in_channels,
// out_channels / groups] with groups = in_channels.
struct ConvProblem {
  bool nchw = false;
  bool depthwise = false;
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  WindowAxis rows, columns;
  FusedOps fused;

  double flops() const {
    return 2.0 * batch * rows.out * columns.out * out_channels * (in_channels / groups) *
           rows.size * columns.size;
  }
};

// UNIMPLEMENTED if oneDNN has no primitive.
absl::Status PrepareOneDnnConv(Prepare& p, const ConvProblem& problem);
// Any type, plain loops.
absl::Status PrepareAnyConv(Prepare& p, const ConvProblem& problem);

}  // namespace tenon::cpu
