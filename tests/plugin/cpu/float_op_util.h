// Runs single ops that compute float, with several threads.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/op_defs/attr_value.h"
#include "graph/tensor/tensor.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon::testing {

// Values in [-1, 1) that repeat only after 2^32.
Tensor Noise(const Shape& shape, uint32_t seed);
Tensor Floats(const Shape& shape, const std::vector<float>& values);
absl::Span<const float> Values(const Tensor& t);
// A vector of int32.
Tensor Int32s(const std::vector<int32_t>& values);
// The sizes of the dimensions of t, as ops take them in an input.
Tensor SizesOf(const Tensor& t);

// Runs with 1, 2, 5 and 16 threads, constant weights and not, and expects the same bits for each
// number of threads; gives output 0 of one thread and constant weights.
Tensor RunEveryWay(const std::string& op, Attrs attrs, const std::vector<Tensor>& inputs);

}  // namespace tenon::testing
