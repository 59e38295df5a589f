// What is asked of the bodies of functions as graphs.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/functions/function_graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon {

// Nodes that some need. The body outlives it, and its edges stay.
class NeededNodes {
 public:
  explicit NeededNodes(const FunctionGraph& body)
      : g_(body.graph), needed_(body.graph.num_node_ids(), false) {}

  // `found` hears of each node once.
  void Need(
      NodeId root, absl::FunctionRef<void(NodeId)> found = [](NodeId) {});
  void Need(const std::vector<NodeId>& roots) {
    for (const NodeId n : roots) Need(n);
  }

  bool operator[](NodeId n) const { return needed_[n]; }

 private:
  const Graph& g_;
  std::vector<bool> needed_;
};

// Nodes that are there in every run of a body: what they are made of, and wait for, are arguments,
// what is needed anyway, and what cannot fail, as far as this looks.
class CertainNodes {
 public:
  // `args`: what is known of the arguments. The body outlives it, and is not changed.
  CertainNodes(const FunctionGraph& body, std::vector<TensorInfo> args)
      : body_(body), args_(std::move(args)) {}

  bool Has(NodeId n, const NeededNodes& needed);

 private:
  bool CannotFailHere(NodeId n);

  const FunctionGraph& body_;
  const std::vector<TensorInfo> args_;
  std::optional<absl::StatusOr<GraphShapes>> shapes_;  // once they are asked for
};

// Results become what identities pass on to them, so that it shows which arguments come back.
void ShortenResults(FunctionGraph& body);

// By node: whether it is an argument that a node reads, other than to give it back.
std::vector<bool> ReadNodes(const FunctionGraph& body);

}  // namespace tenon
