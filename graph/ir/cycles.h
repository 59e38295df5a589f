// Finds the cycles of a graph, for error messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// Whether the edge closes a legal loop, which is an edge from a NextIteration into a Merge.
bool IsLoopEdge(const Graph& graph, NodeId producer, NodeId consumer);

// Returns each maximal set of two or more nodes that reach one another without loop edges, and each
// node with an edge to itself, as a set of one if it is in no larger set. Ids ascend within a set;
// sets are ordered by their first id. Empty if the graph has no illegal cycle. Takes time
// O((nodes + edges) log nodes).
std::vector<std::vector<NodeId>> FindCycles(const Graph& graph);

// The same for nodes 0 to count - 1 of anything. `reads`: a consumer and a producer for each edge
// that closes no legal loop, sorted by consumer. DescribeCycle wants the same `reads`.
using Read = std::pair<int32_t, int32_t>;
std::vector<std::vector<int32_t>> FindCycles(int32_t count, absl::Span<const Read> reads);

// Returns the text of a shortest cycle through the first node of a set from FindCycles: "'a' -> 'b'
// -> 'a'", from producers to consumers. Of more than 10 nodes names the first 10 and says how many
// there are.
std::string DescribeCycle(const Graph& graph, const std::vector<NodeId>& cycle);
std::string DescribeCycle(absl::Span<const Read> reads, const std::vector<int32_t>& cycle,
                          absl::FunctionRef<std::string_view(int32_t)> name);

}  // namespace tenon
