// Makes a graph of a function's body, so that passes can work on the body, and a FunctionDef of the
// graph.
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
  // Makes a graph of the body of `function`, a function of `owner`. Nodes of the body may call the
  // functions of `functions`; if that is null, of SharedFunctions::Of(owner). `owner` must outlive
  // the result.
  // UNIMPLEMENTED for a function that takes attributes, references or lists of tensors, and for
  // unknown ops. INVALID_ARGUMENT for a malformed function.
  static absl::StatusOr<FunctionGraph> Make(const Graph& owner, const FunctionEntry& function,
                                            std::shared_ptr<SharedFunctions> functions = nullptr);

  // The nodes of the body under their names. Edits must keep the ids of the nodes below. To remove
  // an argument or a result, remove its node and set the entry to kNoNode.
  Graph graph;
  std::vector<NodeId> args;     // a Placeholder for each, with its name
  std::vector<NodeId> results;  // an Identity for each, added or of the body
  // Nodes that a call runs although no result needs them: the control outputs and the stateful
  // nodes.
  std::vector<NodeId> effects;
  AttrSet attrs;  // the function's own, such as _noinline

  // Returns the FunctionDef of the graph's present state, under the function's name or under
  // another name. Under another name the attributes that promise the old interface are left out.
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
