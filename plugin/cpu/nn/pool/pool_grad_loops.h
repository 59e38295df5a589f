// The run functions of the gradients of MaxPool and AvgPool, and of the gradients of those of
// MaxPool. The state of each is a Pool with a depth_window of 1. Inputs are those of the ops.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// Returns the bytes of scratch memory that RunPoolGrad needs.
size_t PoolGradScratch(const Workers& workers, const Pool& s);

absl::Status RunPoolGrad(const void* state, const StepArgs& args);

// The gradient of the gradient.
absl::Status RunGradGrad(const void* state, const StepArgs& args);

}  // namespace tenon::cpu
