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
  // the result. The graph has no positions.
  // UNIMPLEMENTED: a function that takes attributes, has an argument or a result that is a
  // reference or a list of tensors, or has a node of an unknown op.
  // INVALID_ARGUMENT or DATA_LOSS: a malformed function.
  // ALREADY_EXISTS: two nodes, or a node and an argument, have one name.
  // Messages do not name the function: the caller adds the name.
  static absl::StatusOr<FunctionGraph> Make(const Graph& owner, const FunctionEntry& function,
                                            std::shared_ptr<SharedFunctions> functions = nullptr);

  // A function without arguments, results and nodes, whose nodes may call the functions of
  // `functions`; null as for Make. `owner` must outlive the result.
  static FunctionGraph New(const Graph& owner,
                           std::shared_ptr<SharedFunctions> functions = nullptr);

  // Append an argument, or a result that `from` fills. An argument gets a number behind its name
  // where a node has the name, a result where another result has it. AddArgument returns the
  // argument's Placeholder. Errors are those of Graph::AddNode; the function is then as it was.
  absl::StatusOr<NodeId> AddArgument(std::string_view name, DataType type);
  absl::Status AddResult(std::string_view name, Output from);

  // The nodes of the body under their names. Edits must keep the nodes in `args`, `results` and
  // `effects`, and the names of arguments and control outputs. To remove an argument or a result
  // from the function, remove its node and set the entry to kNoNode. Wire leaves out an Identity
  // of `results` that has no control inputs and that no node reads.
  Graph graph;
  std::vector<NodeId> args;  // a Placeholder for each argument, with its name
  // An Identity for each result. Make adds an Identity, except where the result comes from an
  // Identity of the body that has control inputs, that no node reads, and that is no control output
  // and no earlier result. The entry is then that Identity of the body.
  std::vector<NodeId> results;
  // Nodes that a call runs even if no result needs them: first the control outputs, then the
  // stateful nodes. Wire does not read the list: it writes all nodes of `graph`.
  std::vector<NodeId> effects;
  // The function's own attributes, such as _noinline. To read only: Wire takes them from the
  // function that Make was given.
  AttrSet attrs;

  // Returns FunctionDef bytes of the graph's present state, under the function's own name or under
  // another. Fields that the graph does not hold come from the function that Make was given. Under
  // another name the attributes that promise the old interface (_input_shapes, _implements,
  // api_implements) are left out. After New the own name is empty.
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

  // The number and the names of results that the function had when Make was called, and of those
  // that AddResult has added.
  size_t NumOldResults() const;
  std::string_view ResultName(size_t i) const;

  FunctionEntry function_;
  std::vector<std::string> added_results_;
};

}  // namespace tenon
