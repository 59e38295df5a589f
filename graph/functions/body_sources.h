// Resolves the input texts of a function's body once the nodes of the body stand in a graph.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/op_defs/arg_ranges.h"

namespace tenon {

// The arguments and nodes of one body by name. `graph` must outlive this object, and so must the
// bytes of the names that AddNode and the signature give. Not thread-safe, not even to read: ranges
// of results are cached.
class BodySources {
 public:
  explicit BodySources(const Graph& graph) : graph_(graph) {}

  // Sets the arguments. `args` has a node of one output for each tensor that the function takes, in
  // the order of the signature; that there are as many is not checked. `attrs` are the attributes
  // of the call. Errors are those of ArgLength, for attributes that do not fit the signature; the
  // object is then of no use.
  absl::Status SetArgs(const OpDef& signature, const AttrSet& attrs, std::vector<NodeId> args);
  // Makes room for as many nodes.
  void Reserve(size_t nodes) { by_name_.reserve(nodes); }
  // Adds a node of the body. Of equal names the first counts.
  void AddNode(std::string_view name, NodeId n) { by_name_.try_emplace(name, n); }
  NodeId FindNode(std::string_view name) const;  // kNoNode if no node has the name

  // Appends the outputs that `text` names to `out`. Forms: "argument", "argument:index",
  // "node:result", "node:result:index", "^node", "^argument". Without an index, `text` names all
  // tensors of the argument or result. An argument wins over a node of its name. The op of the node
  // must be known (Graph::op not null). "^argument" appends the control outputs of all its tensors.
  // INVALID_ARGUMENT for a name, result or index that does not exist, and for a node's name alone;
  // errors of ArgLength for a node whose attributes do not fit its op. After an error `out` is as
  // it was.
  absl::Status Append(std::string_view text, std::vector<Output>& out) const;

 private:
  using Range = ArgRanges::Range;
  absl::Status AppendArgs(Range range, bool control, std::string_view index, std::string_view text,
                          std::vector<Output>& out) const;
  absl::Status AppendResults(NodeId n, std::string_view result, std::string_view text,
                             std::vector<Output>& out) const;

  const Graph& graph_;
  std::vector<NodeId> args_;
  ArgRanges arg_ranges_;
  mutable absl::flat_hash_map<const NodeKind*, ArgRanges> result_ranges_;  // cache
  absl::flat_hash_map<std::string_view, NodeId> by_name_;
};

// Returns OK if `inputs` fit the data inputs of node n in number and type, else INVALID_ARGUMENT. A
// reference fits where its base type is wanted, but not the reverse. `inputs` must have no control
// inputs, and their ports must exist. The types of n and of their nodes must be resolved.
absl::Status CheckInputs(const Graph& graph, NodeId n, absl::Span<const Output> inputs);

// Returns `attrs`, and for each attribute that `attrs` lacks the op's default. The result views the
// bytes of `op` and of `attrs`, which must outlive the result.
AttrSet WithDefaults(const OpDef& op, const AttrSet& attrs);

}  // namespace tenon
