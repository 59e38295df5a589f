// Values for variables that nobody has given any.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon {

// Adds a node that, run, gives the graph's variables of known type and shape ordinary values, which
// depend on the variable's name alone. Its name; empty if there is no such variable. Variables in
// bodies of functions have none.
absl::StatusOr<std::string> AddMadeUpState(Graph& graph);

}  // namespace tenon
