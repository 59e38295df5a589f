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
  std::vector<Output> inputs, outputs;
  std::optional<std::vector<std::string>> output_names;  // none: after their nodes
  std::vector<NodeId> control_outputs;
  std::optional<std::vector<std::string>> control_output_names;  // none: those of the nodes
};

// Returns the FunctionDef. All parts must be of the graph. INVALID_ARGUMENT, with TensorFlow's
// messages, for an input of the body that comes neither from the body nor from `inputs`, and for
// names that stand twice; UNIMPLEMENTED for a placeholder in an attribute that the op does not
// have.
absl::StatusOr<std::string> GraphToFunction(const Graph& graph, const FunctionParts& parts);

}  // namespace tenon::api
