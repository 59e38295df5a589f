#include "graph/ir/cycles.h"

#include <algorithm>
#include <boost/graph/strong_components.hpp>

#include "absl/strings/str_cat.h"
#include "graph/ir/bgl_view.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

constexpr size_t kMaxNames = 10;

// The nodes of a shortest cycle from `start` back to it, breadth first among the members.
std::vector<NodeId> ShortestCycle(const Graph& graph, const std::vector<NodeId>& members) {
  const auto index = [&](NodeId n) -> size_t {
    const auto it = std::lower_bound(members.begin(), members.end(), n);
    return it != members.end() && *it == n ? static_cast<size_t>(it - members.begin())
                                           : members.size();
  };
  // Backwards along inputs; towards[i] is the member that i was reached from, one step nearer to
  // the start.
  std::vector<size_t> queue = {0};
  std::vector<size_t> towards(members.size(), members.size());
  for (size_t head = 0; head < queue.size(); ++head) {
    const size_t at = queue[head];
    for (const Output& from : graph.inputs(members[at])) {
      const size_t i = index(from.node);
      if (i == members.size() || IsLoopEdge(graph, from.node, members[at])) continue;
      if (i == 0) {
        std::vector<NodeId> path = {members[0]};
        for (size_t j = at; j != 0; j = towards[j]) path.push_back(members[j]);
        return path;
      }
      if (towards[i] != members.size()) continue;
      towards[i] = at;
      queue.push_back(i);
    }
  }
  return {members[0]};
}

}  // namespace

bool IsLoopEdge(const Graph& graph, NodeId producer, NodeId consumer) {
  return IsMerge(graph.facts(consumer)) && IsNextIteration(graph.facts(producer));
}

std::vector<std::vector<NodeId>> FindCycles(const Graph& graph) {
  const GraphView view(graph, LoopEdges::kHide);
  std::vector<int32_t> component(view.size());
  const int32_t count = boost::strong_components(
      view, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, view)));
  std::vector<int32_t> sizes(count, 0);
  std::vector<bool> cyclic(count, false);
  for (const int32_t c : component) cyclic[c] = ++sizes[c] > 1 || cyclic[c];
  for (const GraphView::Edge& e : view.all()) {
    if (e.from == e.to) cyclic[component[e.from]] = true;
  }
  std::vector<std::vector<NodeId>> cycles;
  std::vector<size_t> place(count, 0);
  for (NodeId n = 0; n < view.size(); ++n) {
    const int32_t c = component[n];
    if (!cyclic[c]) continue;
    if (place[c] == 0) {
      cycles.emplace_back();
      place[c] = cycles.size();
    }
    cycles[place[c] - 1].push_back(n);
  }
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
