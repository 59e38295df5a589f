// Runs one kernel of the CPU on given tensors, without a graph.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon::testing {

using Attrs = std::map<std::string, std::string>;  // AttrValue bytes by name

// All outputs of `op`, run twice on these inputs. Attributes that decide types must be there.
// Preparation knows the values that the kernel asks for and,
// if `constant`, those of all inputs from the second on. Memory that the kernel should write starts
// out as noise.
absl::StatusOr<std::vector<Tensor>> RunCpuKernel(const std::string& op, const Attrs& attrs,
                                                 const std::vector<Tensor>& inputs, int threads = 1,
                                                 bool constant = true);

// The outputs with one thread, which must be those of these numbers of threads, bit for bit. NaN
// after a failure.
std::vector<Tensor> RunSteadily(const std::string& op, const Attrs& attrs,
                                const std::vector<Tensor>& inputs,
                                std::initializer_list<int> threads = {3}, bool constant = true);

}  // namespace tenon::testing
