// The run functions of MaxPool and AvgPool where oneDNN has none.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// Pools of any type. The state is a Pool.
absl::Status RunAnyPool(const void* state, const StepArgs& args);

// The state of pools of floating-point types that oneDNN does not have, with the channels side by
// side and a depth_window of 1: all channels of a place at once, in float or double.
struct ChannelPool {
  Pool pool;
  ElementLoop combine;                            // sums or maxima with a place of the input
  ElementLoop widen = nullptr, narrow = nullptr;  // of half and bfloat16
};

// Returns the bytes of scratch memory that the run function needs. `wide` is float or double.
size_t ChannelPoolScratch(const Workers& workers, const Pool& q, DataType wide);

// Returns the run function that computes in `wide`, float or double.
RunFn FindChannelPool(DataType wide);

// The state of RunIntegerPool: maxima of integers, all channels of a place at once, in the result's
// memory. The pool has its channels side by side and a depth_window of 1, as in ChannelPool.
struct IntegerPool {
  Pool pool;
  ElementLoop combine;
};

absl::Status RunIntegerPool(const void* state, const StepArgs& args);

}  // namespace tenon::cpu
