// Adds functions to the library of a graph by TensorFlow's rules, and takes them out again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace tenon {

// What the library of a graph is at a time. Restore takes out what AddFunction, AddGradientOf and
// AddLibrary have added since; no node may use a function that goes.
class LibraryState {
 public:
  explicit LibraryState(const Graph& graph);
  void Restore(Graph& graph) const;

 private:
  std::vector<FunctionEntry> functions_;
  std::string extra_;
};

// Makes the graph ask for a reader of GraphDefs that knows functions.
void NeedReaderOfFunctions(Graph& graph);

// Whether two FunctionDefs say the same, whatever the order of their nodes and map entries.
bool SameFunction(std::string_view wire, std::string_view other);

// Adds the function of these FunctionDef bytes, which are copied, and makes the graph ask for a
// reader that knows functions. Does nothing if the graph has the
// same function. INVALID_ARGUMENT if it has another function of the name, if an op is registered
// under it, or if the bytes are no function with a signature. Does not check the body.
absl::Status AddFunction(Graph& graph, std::string_view wire);

// Makes `gradient` the function that computes the gradient of `function`. Does nothing if it is so
// already. INVALID_ARGUMENT if `function` has another gradient. Both need not exist.
absl::Status AddGradientOf(Graph& graph, std::string_view function, std::string_view gradient);

// Adds all functions and gradients of FunctionDefLibrary bytes. After an error a part may be there.
absl::Status AddLibrary(Graph& graph, std::string_view library);

// Takes the function, and its entry in the list of gradients, out. Does nothing if there is none.
void RemoveFunction(Graph& graph, std::string_view name);

// Returns the name of the gradient of `function`; empty if it has none.
std::string_view GradientOf(const Graph& graph, std::string_view function);

}  // namespace tenon
