// Graphs as the TensorFlow that they are written for takes them.
#pragma once

#include <string>

#include "graph/ir/graph.h"
#include "grappler_lite/target/target.h"

namespace tenon {

// Takes attributes away that say no more than their default does and that the oldest TensorFlow of
// the target refuses, since it does not know them. Those of functions' nodes too.
void DropNewDefaults(Graph& graph, const Target& target);

// The oldest TensorFlow 2.x that has every op and attribute of a graph, its functions' too, but for
// what DropNewDefaults takes away.
struct Oldest {
  int minor = 0;
  std::string why;  // "op Conv of node 'c'", which it brought; empty: 2.0 has all
};
Oldest OldestTensorFlow(const Graph& graph);

}  // namespace tenon
