// Makes a FunctionDef of a part of a graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon::api {

// What is to become a function. Names of arguments are made of the names of their nodes, in lower
// case; where names meet, later ones get a number.
struct FunctionParts {
  std::string_view name;
  bool append_hash = false;  // "_" and a hash of the definition behind the name
  const char* description = nullptr;
  std::vector<NodeId> body;
  std::vector<Output> inputs, outputs;  // an output may be an input
  // One for each output; none: after their nodes.
  std::optional<std::vector<std::string>> output_names;
  std::vector<NodeId> control_outputs;
  std::optional<std::vector<std::string>> control_output_names;  // none: those of the nodes
};

// Returns FunctionDef bytes. All parts must be of the graph, and their ops known. INVALID_ARGUMENT,
// with TensorFlow's messages, for an input of the body and for an output that come neither from the
// body nor from `inputs`, for names that stand twice, and for control outputs that are not in the
// body or have fewer or more names; UNIMPLEMENTED for a placeholder in an attribute that the op
// does not have.
absl::StatusOr<std::string> GraphToFunction(const Graph& graph, const FunctionParts& parts);

}  // namespace tenon::api
