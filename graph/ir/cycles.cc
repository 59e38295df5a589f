// Cycles are strongly connected components, without the edges from NextIteration to Merge that
// close loops. An error names a shortest cycle through the component's first node, found breadth
// first.

#include "graph/ir/cycles.h"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

using Edges = boost::compressed_sparse_row_graph<boost::directedS>;

constexpr size_t kMaxNames = 10;
constexpr size_t kNone = SIZE_MAX;

// What `members`, ids ascending, read of one another; a vertex is a place in `members`. Edges go
// from consumers to producers, in the order of inputs. Edges that close legal loops are left out.
Edges ReadsAmong(const Graph& graph, const std::vector<NodeId>& members) {
  std::vector<std::pair<size_t, size_t>> reads;
  for (size_t i = 0; i < members.size(); ++i) {
    for (const Output& from : graph.inputs(members[i])) {
      const auto it = std::lower_bound(members.begin(), members.end(), from.node);
      if (it == members.end() || *it != from.node) continue;
      if (IsLoopEdge(graph, from.node, members[i])) continue;
      reads.emplace_back(i, it - members.begin());
    }
  }
  return Edges(boost::edges_are_sorted, reads.begin(), reads.end(), members.size());
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
std::vector<NodeId> ShortestCycle(const Graph& graph, const std::vector<NodeId>& members) {
  const Edges reads = ReadsAmong(graph, members);
  size_t at = kNone;
  std::vector<size_t> reader_of(members.size(), 0);
  boost::breadth_first_search(
      reads, 0,
      boost::visitor(boost::make_bfs_visitor(
          std::pair(boost::record_predecessors(reader_of.data(), boost::on_tree_edge()),
                    FirstThatReadsStart{&at}))));
  std::vector<NodeId> path = {members[0]};
  if (at == kNone) return path;
  for (; at != 0; at = reader_of[at]) path.push_back(members[at]);
  return path;
}

bool ReadsItself(const Graph& graph, NodeId n) {
  const std::span<const Output> inputs = graph.inputs(n);
  return std::any_of(inputs.begin(), inputs.end(),
                     [n](const Output& from) { return from.node == n; });
}

}  // namespace

bool IsLoopEdge(const Graph& graph, NodeId producer, NodeId consumer) {
  return IsMerge(graph.facts(consumer)) && IsNextIteration(graph.facts(producer));
}

std::vector<std::vector<NodeId>> FindCycles(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) nodes.push_back(n);
  }
  const Edges reads = ReadsAmong(graph, nodes);
  std::vector<size_t> component(nodes.size());
  const size_t count = boost::strong_components(
      reads, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, reads)));
  std::vector<std::vector<NodeId>> components(count);
  for (size_t i = 0; i < nodes.size(); ++i) components[component[i]].push_back(nodes[i]);
  std::vector<std::vector<NodeId>> cycles;
  for (std::vector<NodeId>& members : components) {
    if (members.size() > 1 || ReadsItself(graph, members[0])) cycles.push_back(std::move(members));
  }
  // By the first node of each: Boost's order of components is its own.
  std::sort(cycles.begin(), cycles.end());
  return cycles;
}

std::string DescribeCycle(const Graph& graph, const std::vector<NodeId>& cycle) {
  const std::vector<NodeId> path = ShortestCycle(graph, cycle);
  std::string text;
  for (size_t i = 0; i < std::min(path.size(), kMaxNames); ++i)
    absl::StrAppend(&text, "'", graph.name(path[i]), "' -> ");
  if (path.size() > kMaxNames) absl::StrAppend(&text, "... (", path.size(), " nodes) -> ");
  return absl::StrCat(text, "'", graph.name(path[0]), "'");
}

}  // namespace tenon
