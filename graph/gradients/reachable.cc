// Sweeps over what leads to the ys: from xs along the edges, from ys against them.
#include "graph/gradients/reachable.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/gradients/gradients.h"

namespace tenon::gradients {
namespace {

// The most nodes of a path that a message shows.
constexpr size_t kMostShown = 12;

std::vector<NodeId> NodesOf(absl::Span<const Output> outputs) {
  std::vector<NodeId> nodes;
  for (const Output& o : outputs) nodes.push_back(o.node);
  return nodes;
}

// Calls visit(n, todo) once for each node n of `todo`, and of what visit adds to it; marks each in
// `seen`.
template <typename Visit>
void Sweep(std::vector<NodeId> todo, std::vector<bool>& seen, const Visit& visit) {
  while (!todo.empty()) {
    const NodeId n = todo.back();
    todo.pop_back();
    if (seen[n]) continue;
    seen[n] = true;
    visit(n, todo);
  }
}

// Which of some nodes read which, by producer.
class Readers {
 public:
  Readers(const Graph& graph, absl::Span<const NodeId> nodes) : last_(graph.num_node_ids(), -1) {
    for (const NodeId n : nodes) {
      for (const Output& in : graph.data_inputs(n)) {
        // A defect may have given a port that the node lacks.
        if (in.node == kNoNode || in.port < 0 || in.port >= graph.num_outputs(in.node) ||
            !CarriesGradient(graph.output_type(in)))
          continue;
        edges_.push_back({n, last_[in.node]});
        last_[in.node] = static_cast<int32_t>(edges_.size()) - 1;
      }
    }
  }
  template <typename Visit>
  void ForEach(NodeId producer, const Visit& visit) const {
    for (int32_t i = last_[producer]; i >= 0; i = edges_[i].before) visit(edges_[i].reader);
  }

 private:
  struct Edge {
    NodeId reader;
    int32_t before;  // the edge of this producer that came before it, or -1
  };
  std::vector<int32_t> last_;  // by node
  std::vector<Edge> edges_;
};

}  // namespace

Between::Between(const Graph& graph, absl::Span<const Output> ys, absl::Span<const Output> xs)
    : graph_(graph),
      ys_(NodesOf(ys)),
      is_x_(graph.num_node_ids()),
      between_(graph.num_node_ids()),
      edges_(graph.num_node_ids()) {
  const auto add_inputs = [&](NodeId n, std::vector<NodeId>& todo) {
    for (const Output& in : graph.data_inputs(n)) {
      if (in.node != kNoNode) todo.push_back(in.node);
    }
  };
  // Only what leads to the ys is looked at: the graph may be much larger.
  std::vector<bool> leads(graph.num_node_ids());
  Sweep(ys_, leads, [&](NodeId n, std::vector<NodeId>& todo) {
    leading_.push_back(n);
    add_inputs(n, todo);
  });
  std::vector<NodeId> sources;
  for (const Output& x : xs) {
    is_x_[x.node] = true;
    if (leads[x.node]) sources.push_back(x.node);
  }
  const Readers readers(graph, leading_);
  std::vector<bool> reached(graph.num_node_ids()), seen(graph.num_node_ids());
  Sweep(std::move(sources), reached, [&](NodeId n, std::vector<NodeId>& todo) {
    readers.ForEach(n, [&](NodeId reader) { todo.push_back(reader); });
  });
  Sweep(ys_, seen, [&](NodeId n, std::vector<NodeId>& todo) {
    if (!reached[n]) return;
    between_[n] = true;
    add_inputs(n, todo);
  });
  for (const NodeId n : leading_) {
    if (!between_[n]) continue;
    for (const Output& in : graph.data_inputs(n)) {
      if (Has(in.node)) ++edges_[in.node];
    }
  }
}

// The nodes from n, without it, to the first x, against the edges. The search is by breadth.
std::vector<NodeId> Between::WayFrom(NodeId n) const {
  std::vector<NodeId> queue = {n}, reader(between_.size(), kNoNode);
  for (size_t i = 0; i < queue.size(); ++i) {
    if (is_x_[queue[i]]) {
      std::vector<NodeId> way;
      for (NodeId at = queue[i]; at != n; at = reader[at]) way.push_back(at);
      std::reverse(way.begin(), way.end());
      return way;
    }
    for (const Output& in : graph_.data_inputs(queue[i])) {
      if (!Has(in.node) || in.node == n || reader[in.node] != kNoNode) continue;
      reader[in.node] = queue[i];
      queue.push_back(in.node);
    }
  }
  return {};
}

// The nodes from the first y to n, both included.
std::vector<NodeId> Between::WayTo(NodeId n) const {
  std::vector<NodeId> queue = ys_, reader(between_.size(), kNoNode);
  std::vector<bool> seen(between_.size());
  for (const NodeId y : ys_) seen[y] = true;
  for (size_t i = 0; i < queue.size(); ++i) {
    if (queue[i] == n) {
      std::vector<NodeId> way;
      for (NodeId at = n; at != kNoNode; at = reader[at]) way.push_back(at);
      std::reverse(way.begin(), way.end());
      return way;
    }
    for (const Output& in : graph_.data_inputs(queue[i])) {
      if (!Has(in.node) || seen[in.node]) continue;
      seen[in.node] = true;
      reader[in.node] = queue[i];
      queue.push_back(in.node);
    }
  }
  return {};
}

std::string Between::PathThrough(NodeId n) const {
  std::vector<NodeId> way = WayTo(n);
  const std::vector<NodeId> rest = WayFrom(n);
  way.insert(way.end(), rest.begin(), rest.end());
  std::vector<std::string> names;
  for (const NodeId at : way) names.emplace_back(graph_.name(at));
  if (names.size() > kMostShown) {
    const auto cut = names.begin() + kMostShown / 2, end = names.end() - kMostShown / 2;
    const std::string left_out = absl::StrCat("(", end - cut, " more)");
    names.insert(names.erase(cut, end), left_out);
  }
  return absl::StrJoin(names, " <- ");
}

}  // namespace tenon::gradients
