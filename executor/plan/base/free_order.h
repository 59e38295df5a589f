// Orders of nodes that neither the file nor devices decide: by memory, and by a seed. Producers
// stay before their consumers, and nodes with effects in their order (OrderArcs).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "executor/plan/base/schedule.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon {

// Draws an order in which each position stands before those in `after` of it: of the positions that
// may come next each is as likely. `waits`: by position, in how many lists of `after` it stands.
// The same seed gives the same order. There must be no cycle. Linear.
std::vector<int32_t> DrawOrder(const std::vector<std::vector<int32_t>>& after,
                               std::vector<int32_t> waits, uint64_t seed);

// The functions below change nothing if schedule.order has control flow or a node with a reference
// as an output; such nodes must stand as MakeSchedule says. If the order changes, Schedule::places,
// which must be empty before, gets each node's position before the sort. `fed_only`: as for
// MakeSchedule.

// DrawOrder of the schedule's nodes.
void ShuffleNodes(const Graph& graph, const std::vector<bool>& fed_only, uint64_t seed,
                  Schedule& schedule);

// Takes the order in which values take fewer bytes at once: the order as it is, or the one that
// always goes on with the node that frees most beyond what it makes. Sizes are those of `shapes`: a
// dimension that is 0 or not known counts as 1, a value of unknown rank as one element, constants
// and nodes of `fed_only` as nothing. The outputs of a node count together: they live until the
// last reader of any of them has run, and to the end if one is in `fetches`. Takes O(n log n).
void OrderByMemory(const Graph& graph, const std::vector<bool>& fed_only,
                   absl::Span<const Output> fetches, const GraphShapes& shapes, Schedule& schedule);

}  // namespace tenon
