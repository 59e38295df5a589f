// Chains of nodes on lanes that work at the same time, by list scheduling.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// Lanes are any numbers.
struct ChainNode {
  std::vector<int32_t> after;                   // earlier nodes of the list, each once
  const std::vector<int32_t>* lanes = nullptr;  // may be on one of these; null: it takes no time
  int32_t lane = 0;                             // where it is if `lanes` is null
};

// The nodes that n reads or waits for, each once, as indices of a list of ChainNodes. `index_of`:
// by node id; -1 for a node that does not count, or that comes later and closes a loop. Nodes
// without inputs are left out: their values cost no crossing that counts, as constants are copied
// once.
std::vector<int32_t> ProducersOf(const Graph& graph, NodeId n, absl::Span<const int32_t> index_of);

// By node: its lane. Draws nodes together where one alone follows one alone and both have the same
// `lanes` (the same object), since such a chain gains nothing from two lanes. The chain that begins
// the longest path is first, and goes to the lane that would end it first, the first in `lanes` of
// several. `node_units` is the time of each node with `lanes`, `crossing_units` that from the end
// of a node on one lane to the beginning of a node on another that comes after it. O(n log n +
// lanes (n + edges)).
std::vector<int32_t> LanesOfChains(absl::Span<const ChainNode> nodes, int node_units,
                                   int crossing_units);

}  // namespace tenon
