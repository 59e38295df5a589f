// Finds the copies between devices that a placement causes.
#pragma once

#include <string>
#include <vector>

#include "executor/place/placer.h"
#include "graph/ir/graph.h"

namespace tenon::cli {

// A copy of one tensor from one device to another.
struct EdgeCopy {
  std::string from, to;  // "/device:CPU:0"
  std::string tensor;    // "node:port"
  int64_t bytes;         // -1: the shape is not known
};

// By node id: the copies that the node is the first to need. A tensor that several nodes of one
// device read is copied once. Inputs that a kernel wants in host memory count as inputs on the CPU.
// `placement` is by node id of `graph`. Never fails: without shapes all sizes are -1.
std::vector<std::vector<EdgeCopy>> CopiesInto(const Graph& graph,
                                              const std::vector<NodePlacement>& placement);

}  // namespace tenon::cli
