// Runs one kernel of the CPU on given tensors, without a graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace tenon::testing {

// All outputs of `op`, run twice on these inputs. `attrs` are names and AttrValue bytes, of which
// those that decide types must be there. Preparation knows the values that the kernel asks for and,
// if `constant`, those of all inputs from the second on. Memory that the kernel should write starts
// out as noise.
absl::StatusOr<std::vector<Tensor>> RunCpuKernel(const std::string& op,
                                                 const std::map<std::string, std::string>& attrs,
                                                 const std::vector<Tensor>& inputs, int threads = 1,
                                                 bool constant = true);

}  // namespace tenon::testing
