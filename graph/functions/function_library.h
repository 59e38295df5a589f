// Finds, adds and removes the functions of a graph, for passes and writers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"

namespace tenon {

// Returns the names of the functions in `value`, in any order, including those in the attributes of
// named functions. Views of the bytes of `value`.
std::vector<std::string_view> FunctionsNamedBy(const AttrValue& value);

// Returns the names that a functional node with this op and these attributes may call: the op and
// the functions in the attributes. Some may be no function of the library.
std::vector<std::string_view> CalledBy(std::string_view op, const AttrSet& attrs);

// Whether TensorFlow would give a call with these attributes to XLA. Tenon runs it as any other
// call.
bool IsMarkedForXla(const AttrSet& attrs);

// Returns the functions that a file of the graph holds. For the graph of a function's body these
// are first the functions that the body reaches among those shared with the owner, in the order of
// the walk, then the graph's own.
std::vector<FunctionEntry> FunctionsToWrite(const Graph& graph);

// Adds functions given as FunctionDef bytes, which are copied. A function takes the place of the
// one with its name.
void PutFunctions(Graph& graph, absl::Span<const std::string> wires);

// Removes the functions that no node reaches, with their gradients. A function is reached by
// - a node whose op it is or whose attribute names it,
// - a node of the body of a reached function,
// - being the gradient of a reached function or node.
// Calls `may` once if there are such functions, and removes them only if `may` returns true.
// Returns whether any was removed.
bool RemoveUnreachableFunctions(Graph& graph, absl::FunctionRef<bool()> may);

}  // namespace tenon
