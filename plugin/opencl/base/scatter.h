// Sending values to places of a tensor: the door for scatters, segments and counts.
#pragma once

#include <string>

#include "call.h"

namespace opencl {

// Which points outside of the target are errors: none, all, or those whose last coordinate that is
// outside is not negative, or is negative. None of the points outside changes the target.
// scatter.cl, locate, has the same numbers.
enum class Outside { kIgnored, kAll, kNotNegative, kNegative };

// Points by rows of coordinates. In a batch of points each counts from its batch's part of the
// target on.
struct Points {
  Tensor indices;  // int32 or int64, [count, sizes.size()]
  int64_t count = 0;
  Dims sizes;         // of the dimensions that coordinates count
  int64_t piece = 1;  // elements that a point stands for
  int64_t batches = 1;
  Outside reported = Outside::kAll;
  std::string report = "";  // the message; %lld in it is the number of the point
};

// What becomes of an element `a` to which a value `b` is sent: OpenCL C of the computed type C.
// Integers wrap in U.
struct Sent {
  const char* combine;
  // The message for a value of 0 that is sent to an element of the target, if that is an error.
  const char* zero = nullptr;
};

// Queues the scatter: values at points change `target`, repeated points in their order. `values`
// has a piece for each point, or one element, which stands for all. `node`: for messages.
void RunScatter(Call& call, const Points& points, const Sent& sent, const Tensor& values,
                const Tensor& target, const std::string& node);

}  // namespace opencl
