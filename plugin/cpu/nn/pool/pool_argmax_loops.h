// The run functions of MaxPoolWithArgmax and of its gradients. The state of each is an ArgmaxPool.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

struct ArgmaxPool {
  Pool pool;
  bool is64 = true;
  bool from_batch = false;  // positions count from the batch's first element, not the image's

  int64_t image_elements() const { return pool.in_places() * pool.in_channels; }
};

absl::Status RunWithArgmax(const void* state, const StepArgs& args);

// The gradients return INVALID_ARGUMENT if a position in argmax (input 2) is not one of the image,
// or with from_batch of the batch.
//
// One thread, in the order of the outputs: overlapping windows may name one element, and sums in
// the elements' own type depend on their order.
absl::Status RunArgmaxGrad(const void* state, const StepArgs& args);

absl::Status RunArgmaxGradGrad(const void* state, const StepArgs& args);

}  // namespace tenon::cpu
