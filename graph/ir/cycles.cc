// Cycles are strongly connected components, without the edges from NextIteration to Merge that
// close loops. An error names a shortest cycle through the component's first node, found breadth
// first.

#include "graph/ir/cycles.h"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

using Edges = boost::compressed_sparse_row_graph<boost::directedS>;

constexpr size_t kMaxNames = 10;
constexpr size_t kNone = SIZE_MAX;

// The part of `reads` that is of this consumer.
auto ReadsBy(absl::Span<const Read> reads, int32_t consumer) {
  return std::ranges::equal_range(reads, consumer, {}, &Read::first);
}

// What `members`, ids ascending, read of one another; a vertex is a place in `members`. Edges go
// from consumers to producers, in the order of `reads`.
Edges ReadsAmong(absl::Span<const Read> reads, const std::vector<int32_t>& members) {
  std::vector<std::pair<size_t, size_t>> edges;
  for (size_t i = 0; i < members.size(); ++i) {
    for (const Read& read : ReadsBy(reads, members[i])) {
      const auto producer = std::ranges::lower_bound(members, read.second);
      if (producer != members.end() && *producer == read.second)
        edges.emplace_back(i, producer - members.begin());
    }
  }
  return Edges(boost::edges_are_sorted, edges.begin(), edges.end(), members.size());
}

// What these nodes, ids ascending, read, but for edges that close legal loops.
std::vector<Read> ReadsOf(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<Read> reads;
  for (const NodeId n : nodes) {
    for (const Output& from : graph.inputs(n)) {
      if (from.node != kNoNode && !IsLoopEdge(graph, from.node, n))
        reads.emplace_back(n, from.node);
    }
  }
  return reads;
}

// Notes the vertex that the search first found to read from vertex 0.
struct FirstThatReadsStart {
  using event_filter = boost::on_examine_edge;
  size_t* reader;
  void operator()(const Edges::edge_descriptor& read, const Edges& edges) const {
    if (*reader == kNone && target(read, edges) == 0) *reader = source(read, edges);
  }
};

// The nodes of a shortest cycle through the first member, in the order of execution.
std::vector<int32_t> ShortestCycle(absl::Span<const Read> all,
                                   const std::vector<int32_t>& members) {
  const Edges reads = ReadsAmong(all, members);
  size_t at = kNone;
  std::vector<size_t> reader_of(members.size(), 0);
  boost::breadth_first_search(
      reads, 0,
      boost::visitor(boost::make_bfs_visitor(
          std::pair(boost::record_predecessors(reader_of.data(), boost::on_tree_edge()),
                    FirstThatReadsStart{&at}))));
  std::vector<int32_t> path = {members[0]};
  if (at == kNone) return path;
  for (; at != 0; at = reader_of[at]) path.push_back(members[at]);
  return path;
}

}  // namespace

bool IsLoopEdge(const Graph& graph, NodeId producer, NodeId consumer) {
  return IsMerge(graph.facts(consumer)) && IsNextIteration(graph.facts(producer));
}

std::vector<std::vector<int32_t>> FindCycles(int32_t count, absl::Span<const Read> reads) {
  std::vector<int32_t> nodes(count);
  std::iota(nodes.begin(), nodes.end(), 0);
  const Edges edges = ReadsAmong(reads, nodes);
  std::vector<size_t> component(nodes.size());
  const size_t components = boost::strong_components(
      edges, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, edges)));
  std::vector<std::vector<int32_t>> members(components);
  for (const int32_t n : nodes) members[component[n]].push_back(n);
  std::vector<std::vector<int32_t>> cycles;
  for (std::vector<int32_t>& nodes_of : members) {
    const Read of_itself(nodes_of[0], nodes_of[0]);
    const auto reads_of_first = ReadsBy(reads, nodes_of[0]);
    if (nodes_of.size() > 1 || std::ranges::find(reads_of_first, of_itself) != reads_of_first.end())
      cycles.push_back(std::move(nodes_of));
  }
  // By the first node of each: Boost's order of components is its own.
  std::sort(cycles.begin(), cycles.end());
  return cycles;
}

std::vector<std::vector<NodeId>> FindCycles(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) nodes.push_back(n);
  }
  return FindCycles(graph.num_node_ids(), ReadsOf(graph, nodes));
}

std::string DescribeCycle(absl::Span<const Read> reads, const std::vector<int32_t>& cycle,
                          absl::FunctionRef<std::string_view(int32_t)> name) {
  const std::vector<int32_t> path = ShortestCycle(reads, cycle);
  std::string text;
  for (size_t i = 0; i < std::min(path.size(), kMaxNames); ++i)
    absl::StrAppend(&text, "'", name(path[i]), "' -> ");
  if (path.size() > kMaxNames) absl::StrAppend(&text, "... (", path.size(), " nodes) -> ");
  return absl::StrCat(text, "'", name(path[0]), "'");
}

std::string DescribeCycle(const Graph& graph, const std::vector<NodeId>& cycle) {
  return DescribeCycle(ReadsOf(graph, cycle), cycle, [&](NodeId n) { return graph.name(n); });
}

}  // namespace tenon
