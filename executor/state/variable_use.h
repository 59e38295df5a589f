// Which variables a run of some nodes only reads.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

struct VariableUse {
  std::vector<NodeId> read_only, changed;  // variables of the graph itself, in its order
};

// Of the variables that `roots` need, wherever their handles go: through calls, branches and loops.
// One that is handed to a node of which nothing is known counts as changed, and so does one that a
// function makes too.
VariableUse UseOfVariables(const Graph& graph, absl::Span<const NodeId> roots);

}  // namespace tenon
