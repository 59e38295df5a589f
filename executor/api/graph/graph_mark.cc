#include "executor/api/graph/graph_mark.h"

#include "graph/base/within_memory.h"

namespace tenon::api {

GraphMark::GraphMark(TF_Graph& graph)
    : graph_(graph),
      first_new_(graph.graph.num_node_ids()),
      library_(graph.graph),
      versions_(graph.graph.versions_wire()) {}

GraphMark::~GraphMark() {
  if (keeps_) return;
  while (graph_.graph.num_node_ids() > first_new_) graph_.graph.RemoveLastNode();
  graph_.operations.Truncate(static_cast<size_t>(first_new_));
  graph_.shapes.Truncate(first_new_);
  graph_.prefixes.Clear();
  graph_.consumers.Clear();
  // Without memory, functions that no node uses may stay.
  WithinMemory([this] {
    library_.Restore(graph_.graph);
    if (graph_.graph.versions_wire() != versions_) graph_.graph.SetVersions(versions_);
    return absl::OkStatus();
  }).IgnoreError();
}

}  // namespace tenon::api
