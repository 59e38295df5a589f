// The run functions of CropAndResize and of its gradients. The state of each is a Crop.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// Pixels [batch, rows, columns, channels] and crops [boxes, crop_rows, crop_columns, channels].
struct Crop {
  DataType type;  // of the image or its gradient
  int64_t batch, rows, columns, channels;
  int64_t boxes, crop_rows, crop_columns;
  bool nearest = false;
  float outside = 0;  // the value of what lies outside of the image

  int64_t PixelAt(int64_t n, int64_t row, int64_t column) const {
    return ((n * rows + row) * columns + column) * channels;
  }
  int64_t CropAt(int64_t box, int64_t row, int64_t column) const {
    return ((box * crop_rows + row) * crop_columns + column) * channels;
  }
};

// All return OUT_OF_RANGE for a box of an image whose number is not in [0, batch). RunCrop returns
// INVALID_ARGUMENT for a box that is not finite.
absl::Status RunCrop(const void* state, const StepArgs& args);

absl::Status RunImageGradient(const void* state, const StepArgs& args);

absl::Status RunBoxGradient(const void* state, const StepArgs& args);

}  // namespace tenon::cpu
