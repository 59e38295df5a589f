// Finds, adds and removes the functions of a graph, for passes and writers. Functions that take
// `const Graph&` are thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {

// Returns the names of the functions in `value`, in any order and perhaps twice, including the
// names in the attributes of named functions. Views of the bytes of `value`.
std::vector<std::string_view> FunctionsNamedBy(const AttrValue& value);

// Returns the names that a functional node with this op and these attributes may call: the op and
// the functions in the attributes. Some may be no function of the library. The names are views of
// `op` and of the bytes of `attrs`.
std::vector<std::string_view> CalledBy(std::string_view op, const AttrSet& attrs);

// Returns the number of the data input that becomes argument 0 of the functions that a node calls;
// the inputs behind that one become the further arguments. `calls` is OpFacts::calls of the node's
// op; kNone stands for a node whose op is itself a function. nullopt for kFor, kGradient and
// kRemote, whose inputs become arguments in another way.
std::optional<int> FirstArgument(CallKind calls);

// Whether TensorFlow would give a call with these attributes to XLA, its compiler. Tenon runs the
// call as any other.
bool IsMarkedForXla(const AttrSet& attrs);

// Returns the functions that a file of the graph holds. For the graph of a function's body these
// are first the functions that the body reaches among those shared with the owner, in the order of
// the walk, then the graph's own. Gradient functions that no node names are not reached.
std::vector<FunctionEntry> FunctionsToWrite(const Graph& graph);

// Adds functions given as FunctionDef bytes, which are copied into the graph's storage. A function
// replaces the graph's own function of its name, and keeps that function's place in the list and
// its SourcePos. Nodes whose op is the replaced function keep its signature. Does not check the
// bytes: see graph/verify/defect.h.
void PutFunctions(Graph& graph, absl::Span<const std::string> wires);

// Removes those of the graph's own functions that no node reaches, with their entries in the list
// of gradients. A function is reached if
// - it is the op of a node, or an attribute of a node names it;
// - a node of the body of a reached function reaches it in one of these ways;
// - it is the gradient of a reached function, or of a node by the node's _gradient_op_type.
// Calls `may` once if there are such functions, and removes them only if `may` returns true.
// Returns whether any was removed. Linear in the graph and its functions.
bool RemoveUnreachableFunctions(Graph& graph, absl::FunctionRef<bool()> may);

}  // namespace tenon
