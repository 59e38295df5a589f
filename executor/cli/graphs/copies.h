// The copies between devices that a placement causes.
#pragma once

#include <string>
#include <vector>

#include "executor/place/placer.h"
#include "graph/ir/graph.h"

namespace tenon::cli {

struct EdgeCopy {
  std::string from, to;  // "/device:CPU:0"
  std::string tensor;    // "node:port"
  int64_t bytes;         // -1: the shape is not known
};

// By node id: the tensors that must be copied to the node's device. A tensor that several nodes of
// one device use is copied once, for the first. Arguments that a kernel wants in host memory count
// as being on the CPU.
std::vector<std::vector<EdgeCopy>> CopiesInto(const Graph& graph,
                                              const std::vector<NodePlacement>& placement);

}  // namespace tenon::cli
