// Adds functions to the library of a graph by TensorFlow's rules, and takes them out again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace tenon {

// The library and the versions of a graph as they are when the object is made. Restore takes out
// what AddFunction, AddGradientOf and AddLibrary have added since. No node may use a function that
// Restore takes out.
class LibraryState {
 public:
  explicit LibraryState(const Graph& graph);
  void Restore(Graph& graph) const;

 private:
  std::vector<FunctionEntry> functions_;
  std::string extra_, versions_;
};

// Raises min_consumer in the graph's versions to 12, the first version that knows functions, if it
// is lower.
void NeedReaderOfFunctions(Graph& graph);

// Whether two FunctionDefs say the same, whatever the order of their nodes and map entries.
// Bytes that do not parse say the same as equal bytes only.
bool SameFunction(std::string_view wire, std::string_view other);

// Adds the function of these FunctionDef bytes, which are copied, and calls NeedReaderOfFunctions.
// Does nothing if the graph has the same function (SameFunction). INVALID_ARGUMENT if the graph has
// another function of the name, if an op is registered under the name, or if the bytes are no
// function with a name and a signature. Does not check the body. After an error the library and the
// versions are unchanged.
absl::Status AddFunction(Graph& graph, std::string_view wire);

// Notes in the library that the function `gradient` computes the gradient of `function`. Does
// nothing if the library says so already. INVALID_ARGUMENT if `function` has another gradient.
// Neither function has to exist.
absl::Status AddGradientOf(Graph& graph, std::string_view function, std::string_view gradient);

// Adds the functions, gradients and other fields of FunctionDefLibrary bytes. The caller has
// checked that the bytes are well-formed. Errors are those of AddFunction and AddGradientOf; the
// functions before the fault have then been added. Takes time linear in the bytes and the library.
absl::Status AddLibrary(Graph& graph, std::string_view library);

// Removes the graph's own function `name`, and the library's entry that says which function is the
// gradient of `name`. An entry that says of which function `name` is the gradient stays. Does
// nothing if the graph has no function `name`.
void RemoveFunction(Graph& graph, std::string_view name);

// Returns the name of the gradient of `function`; empty if the library states none. The view lives
// as long as the graph's storage.
std::string_view GradientOf(const Graph& graph, std::string_view function);

}  // namespace tenon
