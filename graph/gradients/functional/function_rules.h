// What the rules for calls, branches and loops share. Private to graph/gradients/functional/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/functions/function_graph.h"
#include "graph/gradients/functional/differentiated_body.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {

// The arguments of the functions that the scope's node calls are its inputs from number `first` on.
// What is known of each; of handles, the types of their variables.
std::vector<TensorInfo> ArgumentInfos(const GradientScope& s, int first);
std::vector<DataType> HandleTypes(const GradientScope& s, int first);
// The arguments whose gradient is asked for.
std::vector<int> WantedArguments(const GradientScope& s, int first);
// The results into which something flows. UNIMPLEMENTED for a handle among these.
absl::StatusOr<std::vector<DifferentiatedBody::Seed>> SeedsOf(GradientScope& s);

// INVALID_ARGUMENT if the body has another number of results than the node.
absl::Status CheckResults(const GradientScope& s, const DifferentiatedBody& body);

// The name of the function in attribute `name` of the node.
absl::StatusOr<std::string> FunctionIn(const GradientScope& s, std::string_view name);

// The attributes that the node keeps when its numbers of inputs and outputs change.
NewAttrs KeptAttrs(const GradientScope& s);
// AttrValue bytes: the list of `types`, which are those of the node's outputs or of some of its
// inputs, and `more` behind them.
std::string MoreTypes(std::span<const DataType> types, absl::Span<const DataType> more);
// Adds `more` to attribute output_shapes, unless it is empty: then no shapes are given.
absl::Status AppendOutputShapes(const GradientScope& s, absl::Span<const PartialShape> more,
                                NewAttrs& attrs);

// A name for an argument or a result: `prefix`, then what follows the last '/' of `name`, in small
// letters, digits and underscores.
std::string PlainName(std::string_view prefix, std::string_view name);

// A function under construction that a new node calls: its arguments, with what the node gives for
// each.
class CalledFunction {
 public:
  explicit CalledFunction(const Graph& owner) : function_(FunctionGraph::New(owner)) {}
  FunctionGraph& function() { return function_; }
  Graph& graph() { return function_.graph; }
  // Adds an argument that gets `input`, and returns it.
  absl::StatusOr<Output> Add(std::string_view name, Value input);
  absl::Span<const Value> inputs() const { return inputs_; }

 private:
  FunctionGraph function_;
  std::vector<Value> inputs_;
};

// The rules (calls.cc, branches.cc, loops.cc).
void CallGradient(GradientScope& s);
void BranchGradient(GradientScope& s);
void WhileGradient(GradientScope& s);

// Whether a node of the graph has state, so that a node that calls it must have it too.
bool HasState(const Graph& graph);

}  // namespace tenon::gradients
