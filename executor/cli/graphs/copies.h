// Finds the copies between devices that a placement causes.
#pragma once

#include <string>
#include <vector>

#include "executor/place/placer.h"
#include "graph/ir/graph.h"

namespace tenon::cli {

// A copy of one tensor from one device to another.
struct EdgeCopy {
  std::string from, to;  // ShortName: "/device:CPU:0"
  std::string tensor;    // "node" for output 0, "node:1" for another one
  int64_t bytes;  // of the buffer, without the texts of strings; -1: not known, or above 2^63-1
};

// Returns, by node id of `graph`, the copies that the node's data inputs need. A tensor that
// several nodes read on one device is copied once; the copy belongs to the reader with the lowest
// id. Inputs and outputs that a kernel has in host memory count as on the CPU, and so does a node
// without a device. `placement` is by node id of `graph` too. The function infers the shapes
// itself. If that fails, all sizes are -1.
std::vector<std::vector<EdgeCopy>> CopiesInto(const Graph& graph,
                                              const std::vector<NodePlacement>& placement);

}  // namespace tenon::cli
