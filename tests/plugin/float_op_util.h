// Runs single ops that compute float, with several threads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/attr_value.h"
#include "graph/tensor.h"

namespace tenon::testing {

using Attrs = std::map<std::string, std::string>;  // wire bytes by name

// Values in [-1, 1) that repeat only after 2^32.
Tensor Noise(const Shape& shape, uint32_t seed);
// A vector of int32.
Tensor Int32s(const std::vector<int32_t>& values);

// Runs with 1, 2 and 3 threads, constant weights and not, and expects the same bits for each number
// of threads; gives output 0 of one thread and constant weights.
Tensor RunEveryWay(const std::string& op, Attrs attrs, const std::vector<Tensor>& inputs);

}  // namespace tenon::testing
