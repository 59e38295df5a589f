// The run functions of Dilation2D and of its gradients. The state of each is a Dilation. Input 0 is
// the images, input 1 the filter and, of a gradient, input 2 the output's gradient.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/window.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

struct Dilation {
  Windows w;
  DataType type = DataType::kFloat;
};

absl::Status RunDilation(const void* state, const StepArgs& args);

absl::Status RunDilationInputGrad(const void* state, const StepArgs& args);

// A sum over the batch, in one order.
absl::Status RunDilationFilterGrad(const void* state, const StepArgs& args);

// Returns the bytes of scratch memory that the gradient of input `of` needs.
size_t DilationGradScratch(const Workers& workers, const Windows& w, int of);

}  // namespace tenon::cpu
