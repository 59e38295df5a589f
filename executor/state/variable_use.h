// Which variables a run of some nodes only reads.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// Nodes of variables. Each such node of the graph that the roots need is in one of the two lists; a
// variable that only functions make is in neither.
struct VariableUse {
  std::vector<NodeId> read_only, changed;  // nodes of the graph, in its order
};

// Parts the variables of the graph that `roots` need into those that a run of the roots only reads
// and those that it may change. Roots that are kNoNode are skipped. Handles are followed through
// functional calls, branches and loops. All nodes of one variable (IdentityOf) are in the same
// list. A variable counts as changed if a handle of it goes to a node that is not known to only
// read it, such as one of an unknown op, or a Switch, Merge or Enter. A variable of version 1 has
// no handle: it counts as changed if a node of an unknown op takes it, or one by reference. So does
// a variable of which a handle goes to functions that call each other in a circle, and one that a
// called function makes too. All variables count as changed if any call or branch may return a
// handle, unless its functions make the handles that they return, of tables. Never fails.
VariableUse UseOfVariables(const Graph& graph, absl::Span<const NodeId> roots);

}  // namespace tenon
