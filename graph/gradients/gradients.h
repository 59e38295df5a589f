// Adds gradients to a graph, as TensorFlow's Python (`tf.gradients`) does: reverse mode, from ys
// back to xs, by a rule for each op (gradient_row.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon {

// The gradient of one tensor t. Three cases:
//   none:    nothing depends on t. All three have no node.
//   dense:   `values` has the shape of t; the others have no node.
//   slices:  the sum over k of values[k] put into row indices[k] of zeros of the shape
//            `dense_shape`; rows may repeat. This is TensorFlow's IndexedSlices. `dense_shape` may
//            have no node, and then the slices cannot become dense.
struct Gradient {
  Output values, indices, dense_shape;

  bool none() const { return values.node == kNoNode; }
  bool is_slices() const { return indices.node != kNoNode; }
};

struct GradientRequest {
  // Any outputs. The sum of those that carry gradients (CarriesGradient), weighted by grad_ys, is
  // differentiated. Others add nothing to it; but where they depend on an x, their ops must have a
  // gradient, unless ignore_unknown_rules. An output that stands twice counts twice.
  std::vector<Output> ys;
  std::vector<Output> xs;  // any outputs, resource handles of variables too
  // Empty, or one for each of ys: what flows into the y, of the y's type and shape. An empty list,
  // and an entry without a node, stand for ones; a y that is complex or a handle needs an entry.
  std::vector<Output> grad_ys;
  // Tensors that count as constants, and with each the other outputs of its node.
  std::vector<Output> stop_gradients;
  std::string prefix = "gradients";  // of the names of all new nodes
  // How new nodes are named, and where ones come from. False: the gradient of node n gets nodes
  // "<prefix>/<n>_grad/<op>", and ones are a constant that Fill spreads, as in TensorFlow's Python.
  // True: all are "<prefix>/<op>", and ones are OnesLike of the y, as in TensorFlow's C++.
  bool as_in_cpp = false;
  // A node may ask, by the attribute _gradient_op_type, for the rule of another op. Programs that
  // define gradients of their own (tf.custom_gradient) leave there a name that no graph explains.
  // True: such a name counts for nothing, and what the node computes is differentiated.
  bool ignore_unknown_rules = false;
};

// Adds the nodes, and returns the gradient for each of xs, in their order. `shapes` must be those
// of `graph` under `options`, and are afterwards those of the grown graph. Nodes keep their ids,
// inputs and attributes, but calls, branches and loops on the way may call other functions, and
// give more outputs and take more inputs behind those that they have, and a loop of version 1 gets
// new nodes. These functions, and those of the gradients, are added to the library. Gradients that
// meet at one tensor are summed by AddN; slices are joined and stay slices unless a dense gradient
// meets them. Integers, bools and strings carry no gradient. Linear in the part of the graph
// between xs and ys, and in the graph for a sweep over its edges.
//
// After an error all nodes that were added are removed again; their ids stay used.
//   NOT_FOUND "No gradient defined for op: X": an op on a path from an x to a y has no gradient.
//     Names the op, the node and the path.
//   INVALID_ARGUMENT: an output that does not exist, a complex y or a handle without a gradient, a
//     gradient that does not fit its y, another number of grad_ys, attributes or shapes that a rule
//     refuses; or, where a loop of version 1 leads to a y, a cycle of another kind in the graph.
//   UNIMPLEMENTED: the gradient of this op with these attributes or types is not built; a loop of
//     version 1 on the way has not the form of TensorFlow's while_loop; a node on the way lies on a
//     cycle of another kind; or an x, a y or a stop gradient on the way lies in a loop of version 1
//     and is not what an Exit of the outermost loop gives.
//   Each rule may have errors of its own (PreventGradient, for example). These name op, node and
//     path too, and for a node in a function also those of the call.
absl::StatusOr<std::vector<Gradient>> AddGradients(Graph& graph, GraphShapes& shapes,
                                                   const ShapeOptions& options,
                                                   const GradientRequest& request);

// AddGradients, but slices become dense tensors. No node: there is no gradient.
// INVALID_ARGUMENT besides for slices whose dense shape is not known.
absl::StatusOr<std::vector<Output>> AddDenseGradients(Graph& graph, GraphShapes& shapes,
                                                      const ShapeOptions& options,
                                                      const GradientRequest& request);

// Returns the name of a function of the library that computes the gradient of `function`, a
// function of the library: it takes the arguments and what flows into each result, and gives what
// flows to each argument, zeros if nothing does. That is the gradient that the library states for
// `function`. If the library states none, adds a function, which computes the body of `function`
// anew. Adds nothing after an error. Errors are those of AddGradients, and of FunctionGraph::Make
// for the body.
absl::StatusOr<std::string> AddGradientFunction(Graph& graph, std::string_view function);

// Whether tensors of this type carry gradients: floating and complex types, and handles (resource,
// variant), which stand for tensors of such types. A reference counts as its base.
bool CarriesGradient(DataType type);

// Whether AddGradients has a rule for the op. True also for an op through which no gradient flows,
// such as Shape.
bool HasGradient(std::string_view op);

}  // namespace tenon
