// Fits a graph to the versions of TensorFlow that are to read it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "grappler_lite/target/target.h"

namespace tenon {

// Removes attributes that hold their default value and that the oldest TensorFlow of the target
// does not know: that version would refuse the graph. Looks at the nodes of functions too, and
// replaces functions that change. Does nothing for Tenon.
void DropNewDefaults(Graph& graph, const Target& target);

// Puts Identities where the optimizer of TensorFlow (2.21 at least) would spoil the graph. That
// optimizer replaces a sum of N times x by the product x * N, and makes the constant N wait for the
// node of x. If x is output 1 of a Switch, the constant comes to wait for output 0. Where output 0
// is dead, so is the constant, and all that needs the product. TensorFlow first writes an If or
// Case out as Switches, and merges those Switches that take the same tensor. So an Identity comes
//   * before the inputs of a sum that all are one output of a Switch, other than output 0;
//   * before each further use of a tensor of numbers as an argument of one If or Case.
// Does not look into functions; function_specialization merges arguments there, and most of those
// of the graph. Does nothing for Tenon. Errors are those of Graph::AddNode.
absl::Status SeparateRepeated(Graph& graph, const Target& target);

// The oldest TensorFlow 2.x that has every op and attribute of a graph and of its functions.
// Attributes that DropNewDefaults removes do not count, nor ops that are not TensorFlow's, nor
// whether that version has kernels.
struct Oldest {
  int minor = 0;
  std::string why;  // "op Conv of node 'c'": a use that needs 2.`minor`; empty: 2.0 has everything
};
Oldest OldestTensorFlow(const Graph& graph);

}  // namespace tenon
