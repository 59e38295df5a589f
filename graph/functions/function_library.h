// The functions of a graph, for passes that edit them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"

namespace tenon {

// The functions that an attribute names, in any order, those within attributes of functions too.
std::vector<std::string_view> FunctionsNamedBy(const AttrValue& value);

// The functions that a functional node of this op and these attributes calls: the op and those that
// its attributes name. What is no function of the library may be among them.
std::vector<std::string_view> CalledBy(std::string_view op, const AttrSet& attrs);

// Whether TensorFlow leaves a call with these attributes to its compiler; here it is one like any
// other.
bool IsMarkedForXla(const AttrSet& attrs);

// Those that a file of the graph holds: of the body of a function also what its nodes reach of the
// functions that it shares, in the order in which one comes to them, before its own.
std::vector<FunctionEntry> FunctionsToWrite(const Graph& graph);

// Adds functions, each in the place of the one of its name if there is one. The FunctionDefs are
// copied.
void PutFunctions(Graph& graph, absl::Span<const std::string> wires);

// Removes the functions that nothing reaches: as an op or by an attribute of a node, of the body of
// a function that is reached, or as the gradient of either. What the library says of their
// gradients goes with them. `may` is asked once if there are any. Whether any went.
bool RemoveUnreachableFunctions(Graph& graph, absl::FunctionRef<bool()> may);

}  // namespace tenon
