// Elementwise kernels from a piece of OpenCL C: the door for all ops that compute each element by
// itself.
#pragma once

#include <string>
#include <vector>

#include "call.h"

namespace opencl {

// `body` computes r (O_C) from x0 (X0_C), x1, ...; statements are allowed. `i` is the element's
// number, and n0, n1, ... (long) are the `numbers`: what differs from call to call is not to be a
// part of the text, which would be compiled again. With a `report` the body may call Report(errors,
// number, value), which fails the run with that message.
struct MapBody {
  std::string body;
  std::string report = {};
  std::vector<int64_t> numbers = {};
};

// Queues the kernel: out[i] = body(inputs at position i of `loop`). loop.strides has an entry for
// each input, loop.dims cover the elements of `out` in order.
void RunMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs, const Tensor& out,
            Loop loop);

// The loop of inputs that broadcast to the output.
void RunBroadcastMap(Call& call, const MapBody& body, const std::vector<Tensor>& inputs,
                     const Tensor& out);

}  // namespace opencl
