// A function's body as a graph of its own, so that passes can work on it, and back.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/body_sources.h"
#include "graph/function_body.h"
#include "graph/graph.h"

namespace tenon {

class FunctionGraph {
 public:
  // The functions that the body reaches come along. `owner` must outlive the result. UNIMPLEMENTED
  // for a function that takes attributes or lists of tensors, or holds ops that are unknown;
  // INVALID_ARGUMENT for one that is malformed.
  static absl::StatusOr<FunctionGraph> Make(const Graph& owner, const FunctionEntry& function);

  // Nodes of the body with their names; for edits that keep ids and what is named below.
  Graph graph;
  std::vector<NodeId> args;     // a Placeholder for each, with its name
  std::vector<NodeId> results;  // an Identity of each
  // What a call does besides: the function's control outputs, and whatever is stateful.
  std::vector<NodeId> effects;

  // The FunctionDef of the body as the graph has it now.
  std::string Wire() const;

 private:
  class Writer;

  FunctionGraph(const Graph& owner, const FunctionEntry& function);
  absl::Status AddNodes(const FunctionBody& body);
  absl::Status AddEnds(const FunctionBody& body, const BodySources& sources,
                       absl::Span<const NodeId> nodes);

  FunctionEntry function_;
};

}  // namespace tenon
