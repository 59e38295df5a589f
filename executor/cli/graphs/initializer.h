// Finds the nodes of a graph of TensorFlow 1 that are run for their effects, and those that give
// variables and tables their first values. Functions are not searched.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon::cli {

// Names of the nodes that have no outputs and for which no other node waits, in the order of ids.
// They are run for their effects, such as "init" and "train". A node of an unknown op is left out.
std::vector<std::string> Targets(const Graph& graph);

// The nodes of the ops Variable, VariableV2 and VarHandleOp, in the order of ids.
std::vector<NodeId> Variables(const Graph& graph);

// The nodes that `target` reads or waits for, and what these need in their turn; itself first.
std::vector<NodeId> NeededBy(const Graph& graph, NodeId target);

// The name of the target that initializes the variables. Among the nodes that it needs, an Assign,
// AssignVariableOp or AssignVariableXlaConcatND assigns each of Variables exactly once, and none
// assigns anything else: a target that assigns a variable twice trains. These nodes have no
// Placeholder or PlaceholderV2, no op "Restore…" and no other op "Assign…"; other ops, also those
// that read files, fill tables, and PlaceholderWithDefault, are allowed. If several targets
// qualify, the result is the one that needs the fewest nodes, and of these the first. Only the
// first 100 of Targets are tried. Empty if no target qualifies, or if the graph has no variable.
std::string Initializer(const Graph& graph);

// The targets that a run needs before all else: the one that initializes the variables and fills
// the tables that some node of the graph fills (InitializeTable…, LookupTableImport…), or else
// one for the variables and one for the tables. Each qualifies as in Initializer, but that for the
// tables assigns no variable. Empty where none qualifies, or where there is nothing to fill.
std::vector<std::string> Initializers(const Graph& graph);

// " --init NODE" for each of `names`, as a shell reads it.
std::string InitArguments(const std::vector<std::string>& names);

}  // namespace tenon::cli
