// Where the texts of a function's body lead once its nodes stand in a graph.
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

// `graph` must outlive it, and the names the bytes that they are views of.
class BodySources {
 public:
  explicit BodySources(const Graph& graph) : graph_(graph) {}

  // `args`: a node of one output for each tensor that the function takes. INVALID_ARGUMENT for
  // attributes that do not fit the signature.
  absl::Status SetArgs(const OpDef& signature, const AttrSet& attrs, std::vector<NodeId> args);
  // A node of the body; of equal names the first counts.
  void AddNode(std::string_view name, NodeId n) { by_name_.try_emplace(name, n); }
  NodeId FindNode(std::string_view name) const;  // kNoNode if there is none

  // Appends what "argument", "argument:index", "node:result", "node:result:index", "^node" or
  // "^argument" names: without an index, all tensors of it.
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
  mutable absl::flat_hash_map<NodeId, ArgRanges> result_ranges_;  // of nodes that were asked for
  absl::flat_hash_map<std::string_view, NodeId> by_name_;
};

// Whether these data inputs, in number and type, are what node n takes.
absl::Status CheckInputs(const Graph& graph, NodeId n, absl::Span<const Output> inputs);

// `attrs` and the op's defaults for those that they lack.
AttrSet WithDefaults(const OpDef& op, const AttrSet& attrs);

}  // namespace tenon
