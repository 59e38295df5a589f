// Shared code of the forward and gradient kernels of poolings over images and volumes.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/base/window.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// A forward pooling: the Windows are those over its input.
struct Pool : Windows {
  bool max = false;                  // true: the maximum; false: the mean
  DataType type = DataType::kFloat;  // of the node's output 0
  int64_t depth_window = 1;          // channels that make one output channel
};

// The facts of a pooling op, the same for all its nodes.
struct PoolOp {
  bool max = false;
  int spatial_dims = 2;
  // Input number of ksize; the next input is strides. -1: both are attributes.
  int sizes_input = -1;
  bool skips_evenly = false;  // as in WindowAttrs
};

// Reads the attributes and sizes of a pooling over a tensor of shape `input`. Returns the errors of
// ReadWindowAttrs and MakeWindows. Besides, INVALID_ARGUMENT unless there are a size and a stride
// of at least 1 for each dimension, and for a padding that is not less than the window; INTERNAL if
// an input of sizes is not known; UNIMPLEMENTED for a pooling over the batch, and for one over
// channels unless it is a maximum over images with channels last, the window has one place, and
// window and stride of the channels are equal and divide the channels. Over images, the channels'
// stride does not count if their window is 1.
absl::StatusOr<Pool> ReadPool(const Prepare& p, const Shape& input, const PoolOp& op);

// Returns the value with which a maximum over space begins, for elements of this access: -infinity
// for volumes of floating-point elements, else the least finite value. It is also the maximum of a
// window that holds only NaN and -infinity, over images as in TensorFlow. Over volumes TensorFlow's
// kernels, with oneDNN and without, give different maxima of such a window.
template <typename A, typename Element>
A LeastOf(const Pool& s) {
  if constexpr (std::is_floating_point_v<A>) {
    if (s.volume) return -std::numeric_limits<A>::infinity();
  }
  return static_cast<A>(Element::Lowest());
}

// Returns one output value, of image n, output place `out` and output channel `channel`: the
// maximum or the mean of the window's places inside the input, computed in type A. If no place of
// the window lies inside the input, the maximum is LeastOf and the mean 0. A maximum ignores NaN,
// except that a maximum over channels is NaN if the first channel is NaN.
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
  if (s.max || count == 0) return result;
  return static_cast<A>(result / static_cast<A>(count));
}

// Returns INVALID_ARGUMENT unless input i has the shape of the pooling's output.
absl::Status CheckPooled(const Prepare& p, const Pool& pool, int i);

}  // namespace tenon::cpu
