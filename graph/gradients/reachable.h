// Which nodes lie between the tensors that are differentiated and those with respect to which.
// Private to graph/gradients/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon::gradients {

// The nodes through which a gradient may flow from ys to xs. An x reaches each of them along data
// edges of types that carry gradients. From each of them data edges lead to a y, over nodes that an
// x reaches so. The way may have no edge: an x is reached by itself, and a y leads to itself. The
// ports of xs and ys do not matter. Describes the graph at the time of the constructor. Takes time
// by the edges of what leads to the ys, and little for each node of the graph. The graph must
// outlive the object.
class Between {
 public:
  Between(const Graph& graph, absl::Span<const Output> ys, absl::Span<const Output> xs);

  // False for kNoNode and for nodes that were added since.
  bool Has(NodeId n) const {
    return n >= 0 && n < static_cast<NodeId>(between_.size()) && between_[n];
  }
  // By node id: how many data edges lead from the node to nodes for which Has is true; 0 if Has is
  // false for the node itself. A node that reads one output twice counts twice.
  const std::vector<int32_t>& edges() const { return edges_; }

  // The nodes that lead to a y along data edges, the ys included, each once.
  const std::vector<NodeId>& leading() const { return leading_; }

  // "loss <- dense/MatMul <- w": a shortest way from a y over node n to an x. Long ways are cut in
  // the middle. Has(n) must be true. Reads the graph: nodes may have been added to it since, but
  // the inputs of the others must be the same.
  std::string PathThrough(NodeId n) const;

 private:
  std::vector<NodeId> WayFrom(NodeId n) const;
  std::vector<NodeId> WayTo(NodeId n) const;

  const Graph& graph_;
  std::vector<NodeId> ys_, leading_;
  std::vector<bool> is_x_, between_;
  std::vector<int32_t> edges_;
};

}  // namespace tenon::gradients
