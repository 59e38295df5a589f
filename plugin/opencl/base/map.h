// Elementwise kernels from a piece of OpenCL C: the door for all ops that compute each element by
// itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "call.h"

namespace opencl {

// `body`: statements that set r, the element of the result, such as "r = x0 + x1;". The body is one
// line and has no // comment: it becomes a macro. The statements may read
//   x0, x1, ...   the elements of the inputs. X0_C, X1_C, ... are their types in a kernel, O_C is
//                 that of r (types.cc): float for half and bfloat16, int for bool and for integers
//                 below 32 bits, else the type of the elements
//   i             the number of the element in `out`, row by row
//   n0, n1, ...   `numbers`, as longs. What differs from call to call stands here and not in the
//                 text, which would be compiled again
// With a `report`, the body may call Report(errors, number, value). `errors` and `number` are names
// that the kernel has: write them as they stand. `value` is any long. The run then fails with
// INVALID_ARGUMENT and the text of `report`, in which "%lld" stands for the value.
struct MapBody {
  std::string body;
  std::string report = {};
  std::vector<int64_t> numbers = {};
};

// Queues the kernel: out[i] = body(inputs at position i of `loop`). loop.strides has an entry for
// each input, loop.dims cover the elements of `out` in order. `out` may be the memory of an input
// that the loop reads in the order of `out`, and of no other. Does nothing for an empty `out`.
void RunMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs, const Tensor& out,
            Loop loop);

// RunMap over the loop in which the inputs broadcast to out.dims, as they must (Broadcast, dims.h).
void RunBroadcastMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs,
                     const Tensor& out);

}  // namespace opencl
