// A hash that tells whether a graph has changed.
#pragma once

#include <cstdint>

#include "graph/ir/graph.h"

namespace tenon {

// Hashes ids, names, kinds, devices and inputs of the live nodes, and the functions. Time is
// O(nodes + edges), whatever the size of constants: kinds are interned, so that the address of a
// kind stands for op and attributes, and the address of a function's bytes for the function. So a
// large attribute, or a function, that was replaced by an equal one may count as a change. Two
// fingerprints are comparable only within one process and between graphs that share their storage
// (a graph and its edited copy).
uint64_t Fingerprint(const Graph& graph);

}  // namespace tenon
