// Poolings over images and volumes: what forward and gradient kernels share.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/base/window.h"
#include "plugin/kernels/kernel.h"

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

// One output: the largest or the mean of a window, computed in A.
template <typename A, typename Element>
A PoolOne(const Pool& s, const void* in, Element element, int64_t n, int64_t out, int64_t channel) {
  A result = 0;
  int64_t count = 0;
  s.ForEachInWindow(out, [&](int64_t place, int64_t) {
    for (int64_t d = 0; d < s.depth_window; ++d, ++count) {
      const A x = element.template As<A>(in, s.InputAt(n, place, channel * s.depth_window + d));
      if (!s.max) {
        result += x;
      } else if (count == 0 || x > result) {
        result = x;
      }
    }
  });
  return s.max || count == 0 ? result : static_cast<A>(result / static_cast<A>(count));
}

// INVALID_ARGUMENT unless input i has the shape of the pooling's output.
absl::Status CheckPooled(const Prepare& p, const Pool& pool, int i);

}  // namespace tenon::cpu
