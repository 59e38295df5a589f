// The run functions of MaxPool and AvgPool where oneDNN has none.
#pragma once

#include "absl/status/status.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/pool/pool.h"
#include "plugin/cpu/nn/pool/pool_windows.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// Pools of any type. The state is a Pool.
absl::Status RunAnyPool(const void* state, const StepArgs& args);

// The state of RunChannelPool: pools of floating-point elements with the channels side by side and
// a depth_window of 1, all channels of a place at once. The input has places, so that each window,
// which is wider than the padding, has some of them.
struct ChannelPool {
  Pool pool;
  PoolLoop loop;
  double least;  // what a maximum starts from
};

absl::Status RunChannelPool(const void* state, const StepArgs& args);

// The state of RunIntegerPool: maxima of integers, all channels of a place at once, in the result's
// memory. The pool has its channels side by side and a depth_window of 1, as in ChannelPool.
struct IntegerPool {
  Pool pool;
  ElementLoop combine;
};

absl::Status RunIntegerPool(const void* state, const StepArgs& args);

}  // namespace tenon::cpu
