// Shared code of the forward and gradient kernels of poolings over images and volumes.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/status/statusor.h"
#include "plugin/cpu/base/window.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// A pooling.
struct Pool : Windows {
  bool max = false;  // true: the maximum; false: the mean
  DataType type = DataType::kFloat;
  int64_t depth_window = 1;  // channels that make one output channel
};

// The facts of a pooling op.
struct PoolOp {
  bool max = false;
  int spatial_dims = 2;
  int sizes_input = -1;       // input number of ksize; strides follow. -1: both are attributes
  bool skips_evenly = false;  // as in WindowAttrs
};

// Reads the attributes and sizes of a pooling over a tensor of shape `input`. INVALID_ARGUMENT if
// the sizes do not fit the shape. UNIMPLEMENTED for a case that has no implementation.
absl::StatusOr<Pool> ReadPool(const Prepare& p, const Shape& input, const PoolOp& op);

// What a maximum over space begins with, of elements of this access. As in TensorFlow it is also
// the maximum of images' windows that hold nothing else but NaN and -inf.
template <typename A, typename Element>
A LeastOf(const Pool& s) {
  if constexpr (std::is_floating_point_v<A>) {
    if (s.volume) return -std::numeric_limits<A>::infinity();
  }
  return static_cast<A>(Element::Lowest());
}

// Returns one output value, of image n, output place `out` and output channel `channel`: the
// maximum or the mean of the window's places inside the input, computed in type A. 0 if there is no
// such place. A maximum passes over NaN; one over channels keeps a NaN that comes first.
template <typename A, typename Element>
A PoolOne(const Pool& s, const void* in, Element element, int64_t n, int64_t out, int64_t channel) {
  A result = s.max ? LeastOf<A, Element>(s) : A(0);
  int64_t count = 0;
  s.ForEachInWindow(out, [&](int64_t place, int64_t) {
    for (int64_t d = 0; d < s.depth_window; ++d, ++count) {
      const A x = element.template As<A>(in, s.InputAt(n, place, channel * s.depth_window + d));
      if (!s.max) {
        result += x;
      } else if (x > result || (count == 0 && s.depth_window > 1)) {
        result = x;
      }
    }
  });
  if (count == 0) return 0;
  return s.max ? result : static_cast<A>(result / static_cast<A>(count));
}

// Returns INVALID_ARGUMENT unless input i has the shape of the pooling's output.
absl::Status CheckPooled(const Prepare& p, const Pool& pool, int i);

}  // namespace tenon::cpu
