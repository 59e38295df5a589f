// A number that changes when a graph does.
#pragma once

#include <cstdint>

#include "graph/ir/graph.h"

namespace tenon {

// Of ids, names, kinds, devices and inputs of the live nodes, and of the functions: O(nodes +
// edges), whatever constants weigh. Kinds are interned, so that their address stands for op and
// attributes, as that of a function's bytes does for the function; it is comparable between graphs
// that share their storage (a graph and its edited copy), in one process.
uint64_t Fingerprint(const Graph& graph);

}  // namespace tenon
