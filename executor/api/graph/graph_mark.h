// Removes what was added to a graph since a mark.
#pragma once

#include <string>

#include "executor/api/graph/tf_graph.h"
#include "graph/functions/library_merge.h"

namespace tenon::api {

// The caller holds graph.mutex whenever it calls a function, the destructor included.
class GraphMark {
 public:
  // Marks the present state of the graph.
  explicit GraphMark(TF_Graph& graph);
  // Undoes what Keep was not called for, also where an exception ends the work: lack of memory.
  // Removes the nodes and functions that were added since the mark, and restores the versions.
  // Changes of older nodes stay: no older node may have got a removed node as an input. Destroys
  // the TF_Operations of the nodes that it removes: no caller of the C API may have their
  // addresses.
  ~GraphMark();
  GraphMark(const GraphMark&) = delete;
  GraphMark& operator=(const GraphMark&) = delete;
  // The id that the first node after the mark has or will have.
  NodeId first_new() const { return first_new_; }
  // The graph's VersionDef bytes at the mark.
  const std::string& versions() const { return versions_; }
  void Keep() { keeps_ = true; }

 private:
  TF_Graph& graph_;
  const NodeId first_new_;
  const LibraryState library_;
  const std::string versions_;
  bool keeps_ = false;
};

}  // namespace tenon::api
