// The run function of ImageProjectiveTransform. Its state is a Projection.
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
