// A function's body as a graph of its own, so that passes can work on it, and back.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/functions/body_sources.h"
#include "graph/functions/function_body.h"
#include "graph/functions/shared_functions.h"
#include "graph/ir/graph.h"
#include "graph/op_defs/attr_set.h"

namespace tenon {

class FunctionGraph {
 public:
  // Nodes of the body may call what nodes of `owner` may: `functions`, or what SharedFunctions::Of
  // says of it if that is null. `owner` must outlive the result. UNIMPLEMENTED
  // for a function that takes attributes or lists of tensors, or holds ops that are unknown;
  // INVALID_ARGUMENT for one that is malformed.
  static absl::StatusOr<FunctionGraph> Make(const Graph& owner, const FunctionEntry& function,
                                            std::shared_ptr<SharedFunctions> functions = nullptr);

  // Nodes of the body with their names; for edits that keep ids and what is named below. An
  // argument or result that is to go is removed and becomes kNoNode.
  Graph graph;
  std::vector<NodeId> args;     // a Placeholder for each, with its name
  std::vector<NodeId> results;  // an Identity of each, perhaps one of the body's own
  // What a call does besides: the function's control outputs, and whatever is stateful.
  std::vector<NodeId> effects;
  AttrSet attrs;  // the function's own, such as _noinline

  // The FunctionDef of the body as the graph has it now, for the function that it was or for one of
  // another name, which does not claim to have that one's interface.
  std::string Wire() const { return Wire(function_.name); }
  std::string Wire(std::string_view name) const;

 private:
  class Writer;

  FunctionGraph(const Graph& owner, const FunctionEntry& function,
                std::shared_ptr<SharedFunctions> functions);
  absl::Status AddNodes(const FunctionBody& body);
  absl::flat_hash_set<NodeId> WaitingIdentities(const FunctionBody& body,
                                                const BodySources& sources,
                                                absl::Span<const NodeId> nodes) const;
  absl::Status AddEnds(const FunctionBody& body, const BodySources& sources,
                       absl::Span<const NodeId> nodes);

  FunctionEntry function_;
};

}  // namespace tenon
