// Takes out again what was added to a graph.
#pragma once

#include <string>

#include "executor/api/graph/tf_graph.h"
#include "graph/functions/library_merge.h"

namespace tenon::api {

// A state of a graph to which Undo leads back. Nodes, functions and versions that came since go; no
// caller may have seen an operation of such a node. Needs the lock of the graph.
class GraphMark {
 public:
  explicit GraphMark(TF_Graph& graph);
  // The id of the first node that came since.
  NodeId first_new() const { return first_new_; }
  const std::string& versions() const { return versions_; }
  void Undo();

 private:
  TF_Graph& graph_;
  const NodeId first_new_;
  const LibraryState library_;
  const std::string versions_;
};

}  // namespace tenon::api
