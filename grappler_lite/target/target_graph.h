// Fits a graph to the versions of TensorFlow that are to read it.
#pragma once

#include <string>

#include "graph/ir/graph.h"
#include "grappler_lite/target/target.h"

namespace tenon {

// Removes attributes that hold their default value and that the oldest TensorFlow of the target
// does not know: that version would refuse the graph. Looks at the nodes of functions too, and
// replaces functions that change. Does nothing for Tenon.
void DropNewDefaults(Graph& graph, const Target& target);

// The oldest TensorFlow 2.x that has every op and attribute of a graph and of its functions.
// Attributes that DropNewDefaults removes do not count, nor ops that are not TensorFlow's, nor
// whether that version has kernels.
struct Oldest {
  int minor = 0;
  std::string why;  // "op Conv of node 'c'": a use that needs 2.`minor`; empty: 2.0 has everything
};
Oldest OldestTensorFlow(const Graph& graph);

}  // namespace tenon
