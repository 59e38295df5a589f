#include "graph/ir/bgl_view.h"

#include "graph/ir/cycles.h"

namespace tenon {

GraphView::GraphView(const Graph& graph, LoopEdges loop_edges)
    : graph_(&graph),
      out_begin_(graph.num_node_ids() + 1, 0),
      in_begin_(graph.num_node_ids() + 1, 0) {
  const NodeId count = graph.num_node_ids();
  for (NodeId n = 0; n < count; ++n) {
    const std::span<const Output> inputs =
        graph.alive(n) ? graph.inputs(n) : std::span<const Output>();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const NodeId from = inputs[i].node;
      if (from < 0 || from >= count || !graph.alive(from)) continue;
      if (loop_edges == LoopEdges::kHide && IsLoopEdge(graph, from, n)) continue;
      in_.push_back({from, n, static_cast<int32_t>(i)});
      ++out_begin_[from + 1];
    }
    in_begin_[n + 1] = static_cast<uint32_t>(in_.size());
  }
  for (NodeId n = 0; n < count; ++n) out_begin_[n + 1] += out_begin_[n];
  out_.resize(in_.size());
  std::vector<uint32_t> next(out_begin_.begin(), out_begin_.end() - 1);
  for (const Edge& e : in_) out_[next[e.from]++] = e;
}

}  // namespace tenon
