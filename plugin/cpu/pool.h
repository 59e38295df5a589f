// Poolings over images and volumes: what forward and gradient kernels share.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/window.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

struct Pool : Windows {
  bool max = false;
  DataType type = DataType::kFloat;
  int64_t depth_window = 1;  // channels that make one output channel
};

// Which inputs hold what.
struct PoolOp {
  bool max = false;
  int spatial_dims = 2;
  int sizes_input = -1;       // of ksize, before that of the strides; negative: both are attributes
  bool skips_evenly = false;  // as in WindowAttrs
};

// Reads the attributes and sizes of a pooling of `input`. INVALID_ARGUMENT and UNIMPLEMENTED say
// what does not fit.
absl::StatusOr<Pool> ReadPool(const Prepare& p, const Shape& input, const PoolOp& op);

// INVALID_ARGUMENT unless input i has the shape of the pooling's output.
absl::Status CheckPooled(const Prepare& p, const Pool& pool, int i);

}  // namespace tenon::cpu
