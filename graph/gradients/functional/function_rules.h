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
// What is known of each; of handles, the types of their variables. HandleTypes has kInvalid for an
// argument that is no handle, or whose variable has a type that is not known.
std::vector<TensorInfo> ArgumentInfos(const GradientScope& s, int first);
std::vector<DataType> HandleTypes(const GradientScope& s, int first);
// The numbers of the arguments whose gradients are asked for, from 0.
std::vector<int> WantedArguments(const GradientScope& s, int first);
// A seed for each result into which a gradient flows. UNIMPLEMENTED if such a result is a handle of
// a variable.
absl::StatusOr<std::vector<DifferentiatedBody::Seed>> SeedsOf(GradientScope& s);

// INVALID_ARGUMENT if the body has another number of results than the node.
absl::Status CheckResults(const GradientScope& s, const DifferentiatedBody& body);

// The name of the function in attribute `name` of the node. INVALID_ARGUMENT if the node has no
// such attribute; other errors are those of AttrValue::AsFunc.
absl::StatusOr<std::string> FunctionIn(const GradientScope& s, std::string_view name);

// The attributes that the node keeps when its numbers of inputs and outputs change.
NewAttrs KeptAttrs(const GradientScope& s);
// AttrValue bytes: the list of `types`, which are those of the node's outputs or of some of its
// inputs, and `more` behind them.
std::string MoreTypes(std::span<const DataType> types, absl::Span<const DataType> more);
// Puts the node's attribute output_shapes, with `more` behind its shapes, into `attrs`. Does
// nothing if the node lacks the attribute, or if the attribute is an empty list, which gives no
// shapes. Errors are those of AttrValue::AsShapeList.
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
  // Adds an argument for which the node gives `input`. Returns the argument, an output in graph().
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
