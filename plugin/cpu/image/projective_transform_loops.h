// The run function of ImageProjectiveTransformV2 and V3. Its state is a Projection. Input 0 is the
// images, with channels last; input 1 the transforms, 8 floats each; input 3, if has_fill_value, a
// float.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

enum class ProjectionFill { kConstant, kNearest, kReflect, kWrap };

struct Projection {
  DataType type;
  int64_t batch, rows, columns, channels;
  int64_t out_rows, out_columns;
  bool shared;  // one transform for all images
  bool has_fill_value;
  bool bilinear;
  ProjectionFill fill;
};

absl::Status RunProjection(const void* state, const StepArgs& args);

}  // namespace tenon::cpu
