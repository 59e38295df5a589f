#include "executor/api/graph/graph_mark.h"

namespace tenon::api {

GraphMark::GraphMark(TF_Graph& graph)
    : graph_(graph),
      first_new_(graph.graph.num_node_ids()),
      library_(graph.graph),
      versions_(graph.graph.versions_wire()) {}

void GraphMark::Undo() {
  while (graph_.graph.num_node_ids() > first_new_) graph_.graph.RemoveLastNode();
  graph_.operations.Truncate(static_cast<size_t>(first_new_));
  graph_.shapes.Truncate(first_new_);
  graph_.prefixes.Clear();
  graph_.consumers.Clear();
  library_.Restore(graph_.graph);
  graph_.graph.SetVersions(versions_);
}

}  // namespace tenon::api
