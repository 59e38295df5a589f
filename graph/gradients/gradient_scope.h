// What a rule for a gradient sees: one node, what flows into its outputs, and where to put what
// flows on to its inputs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "graph/gradients/gradients.h"
#include "graph/gradients/graph_builder.h"
#include "graph/gradients/math.h"
#include "graph/gradients/reachable.h"
#include "graph/op_defs/attr_value.h"

namespace tenon::gradients {

// A gradient in slices, as Gradient in gradients.h; `dense_shape` may be a default Value: not
// known.
struct Slices {
  Value values, indices, dense_shape;
};

// Numbers of inputs and outputs count tensors, not arguments, and must be those of the node. All
// Values are of builder(). Belongs to one thread and one call of a rule.
class GradientScope {
 public:
  // `incoming`: for each output of `node` what flows into it. `between`: where gradients may flow.
  // Both must outlive the scope.
  GradientScope(GraphBuilder& builder, NodeId node, absl::Span<const Gradient> incoming,
                const Between& between)
      : builder_(builder),
        node_(node),
        incoming_(incoming),
        between_(between),
        results_(graph().num_inputs(node)) {}

  GraphBuilder& builder() const { return builder_; }
  Graph& graph() const { return builder_.graph(); }
  NodeId node() const { return node_; }
  std::string_view op() const { return graph().op_name(node_); }

  // Inputs and outputs of the node.
  int num_inputs() const { return graph().num_inputs(node_); }
  int num_outputs() const { return graph().num_outputs(node_); }
  Value x(int i = 0) const;
  Value y(int i = 0) const { return builder_.At({node_, i}); }
  std::vector<Value> xs(int first = 0) const;  // all inputs from number `first` on

  // What flows into output i as a dense tensor: zeros where nothing does, a sum where slices do.
  Value dy(int i = 0);
  // Whether anything flows into output i.
  bool has_dy(int i = 0) const { return !incoming_[i].none(); }
  // Whether what flows into output i comes in slices, and these slices. Ask slices(i) only if
  // in_slices(i).
  bool in_slices(int i = 0) const { return incoming_[i].is_slices(); }
  Slices slices(int i = 0) const;

  // Whether anybody reads the gradient of input i: a rule may leave out an expensive one.
  bool wanted(int i) const { return between_.Has(graph().inputs(node_)[i].node); }

  // Attributes of the node, or the OpDef's defaults. For a missing attribute, or one of another
  // kind, these call Fail and return 0 or an empty value.
  int64_t Int(std::string_view name);
  bool Bool(std::string_view name);
  float Float(std::string_view name);
  std::string_view String(std::string_view name);
  DataType Type(std::string_view name);
  std::vector<int64_t> Ints(std::string_view name);
  std::vector<std::string_view> Strings(std::string_view name);
  // The attributes of these names, or their defaults, for another node. Calls Fail if one is
  // missing.
  NewAttrs Attrs(std::initializer_list<std::string_view> names);
  // All of the node's own attributes that its op has.
  NewAttrs AllAttrs() const { return OpAttrs(graph(), node_); }

  // Sets what flows on to input i. A value must have the input's type (not checked for handles,
  // variants and slices).
  void Set(int i, Value gradient);
  void Set(int i, const Slices& gradient);
  // Hands on what flows into output `from`, in slices or dense; nothing if nothing does.
  void Pass(int to, int from);

  void Fail(absl::Status status) { builder_.Fail(std::move(status)); }
  // Fails with UNIMPLEMENTED and these words; the op and the node are added by the engine.
  void Unimplemented(std::string_view what);

  const std::vector<Gradient>& results() const { return results_; }

 private:
  template <typename T, typename Read>
  T Attr(std::string_view name, Read read);

  GraphBuilder& builder_;
  NodeId node_;
  absl::Span<const Gradient> incoming_;
  const Between& between_;
  std::vector<Gradient> results_;
  std::vector<Value> dense_;  // what dy has made, by output
};

// A rule for ops whose input 0 alone has a gradient: the value that `kFn` returns.
//   {"Neg", Unary<[](GradientScope& s) { return -s.dy(); }>}
template <auto kFn>
void Unary(GradientScope& s) {
  s.Set(0, kFn(s));
}

// An attribute that gives the type of its variable to a handle from outside of a function's body.
inline constexpr std::string_view kHandleTypeAttr = "_handle_dtype";
// The type of the variable that `handle`, a resource, stands for; kInvalid if nothing says it: the
// handle must be one whose content the shapes know, or come from a VarHandleOp, from such a handle
// or from a node with kHandleTypeAttr, by way of nodes that hand it on.
DataType TypeOfVariable(Value handle);
// The shape of the variable behind a handle: a constant if it is fully known.
Value ShapeOfVariable(Value handle, DataType type = DataType::kInt32);

// Zeros of the type and shape of x; for the handle of a variable, of the variable's type and shape.
// Fails with UNIMPLEMENTED if the graph does not say that type (TypeOfVariable).
Value ZeroGradientOf(Value x);

// The sum over slices as a dense tensor. Fails with INVALID_ARGUMENT if `dense_shape` is no tensor.
Value Densify(const Slices& slices);

// AddGradients, or AddDenseGradients if `dense`, for a graph that is the body of a function as
// `nesting` says; null: the graph is no body. `forward`, unless it is null, gets
// GraphBuilder::added_forward. For rules that look into functions.
absl::StatusOr<std::vector<Gradient>> Differentiate(Graph& graph, GraphShapes& shapes,
                                                    const ShapeOptions& options,
                                                    const GradientRequest& request, bool dense,
                                                    const Nesting* nesting,
                                                    std::vector<NodeId>* forward = nullptr);

}  // namespace tenon::gradients
