// Adds nodes to a graph in the few words that a rule for a gradient needs: types follow from the
// inputs, shapes are inferred at once, errors wait until the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/library_merge.h"
#include "graph/ir/graph.h"
#include "graph/ir/new_attrs.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::gradients {

class GraphBuilder;
class Sides;

// The functions whose bodies are being differentiated, the innermost first, as a list linked by
// `outer`. A builder that adds gradients to the body of `function` gets it. A builder gets none if
// its graph is no body, or a body of which nothing is differentiated, such as those of a backward
// loop.
struct Nesting {
  const Nesting* outer = nullptr;
  std::string_view function;
  int depth = 1;      // the length of the list
  std::string label;  // GraphBuilder::label of all builders with this nesting
};

// An output of the graph that a builder grows. Free functions (math.h) add nodes that compute with
// it. There are three kinds. A value of a node. A value without a node (output().node is kNoNode):
// what a builder that has failed returns; what is computed from it has no node either. A default
// value: no tensor, as where there is no gradient; it has no builder, and to have a node read it is
// an error. The builder must outlive the value.
class Value {
 public:
  Value() = default;
  Value(GraphBuilder& builder, Output output) : builder_(&builder), output_(output) {}

  // False for a default value alone.
  explicit operator bool() const { return builder_ != nullptr; }
  // Not for a default value.
  GraphBuilder& builder() const { return *builder_; }
  Output output() const { return output_; }
  // The type, never a reference; kInvalid without a node.
  DataType dtype() const;
  // What is known of the shape; nothing without a node.
  PartialShape shape() const;
  int rank() const { return shape().rank(); }  // -1: not known

 private:
  GraphBuilder* builder_ = nullptr;
  Output output_;
};

// Adds the function to the library, and returns its name: `base`, '_' and a fingerprint of what the
// function does. So functions of two graphs that do different things have different names, and meet
// in one library; a function that the library has is not added again. If an op or another function
// has the name, it ends in _1, _2 … .
std::string AddFunction(Graph& graph, std::string_view base, const FunctionGraph& function);

// Grows one graph. The first error is kept, and after it no node is added. Not thread-safe. Graph,
// shapes, options, nesting and what set_sides is given must outlive the builder; `shapes` must be
// those of the graph.
class GraphBuilder {
 public:
  GraphBuilder(Graph& graph, GraphShapes& shapes, const ShapeOptions& options,
               const Nesting* nesting = nullptr)
      : graph_(graph),
        shapes_(shapes),
        options_(options),
        label_(nesting != nullptr ? nesting->label
                                  : "gradients_" + std::to_string(graph.num_node_ids())),
        nesting_(nesting) {}
  GraphBuilder(const GraphBuilder&) = delete;

  // Nodes may also be added to the graph directly, if SyncShapes is called afterwards. SyncShapes
  // infers the shapes of new nodes alone.
  Graph& graph() { return graph_; }
  const GraphShapes& shapes() const { return shapes_; }
  void SyncShapes();
  const Nesting* nesting() const { return nesting_; }
  // GradientRequest::ignore_unknown_rules, for the bodies of functions.
  bool ignore_unknown_rules() const { return ignore_unknown_rules_; }
  void set_ignore_unknown_rules(bool ignore) { ignore_unknown_rules_ = ignore; }

  // The branches of version 1 in the graph as it was when the engine began; null if there are none.
  const Sides* sides() const { return sides_; }
  void set_sides(const Sides* sides) { sides_ = sides; }

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  void Fail(absl::Status status);

  // A name for things that nodes find by name in a run, such as the gradient of a TensorArray.
  // With a nesting it is the nesting's: bodies have the label of the graph that calls them. Without
  // one it is "gradients_" and the number of node ids when the builder was made: two builders of
  // one graph have different labels if nodes were added between them. Builders of two graphs may
  // have equal ones, so a body's builder without a nesting must not use its label.
  const std::string& label() const { return label_; }

  // Nodes that are added from now on have names that begin with `scope` and '/', in place of the
  // scope before: scopes do not nest. Without one names begin with '/', so call it first.
  void EnterScope(std::string scope) { scope_ = std::move(scope); }
  // Nodes that are added from now on also get the debug info of `node` (node_places.h). kNoNode:
  // none.
  void SetSource(NodeId node) { source_ = node; }

  // Adds a node of `op`. Attributes that say the types or the number of inputs may be left out of
  // `attrs`: they follow from `inputs`. But of an op with several lists of inputs, whose lengths
  // are different attributes, those of the first list and of all inputs behind it must be given.
  // Calls Fail if an input has no node, or if the op does not take the attributes, or the number,
  // types or shapes of the inputs. Returns kNoNode after a failure, this one or an earlier one.
  NodeId AddNode(std::string_view op, absl::Span<const Value> inputs, NewAttrs attrs = {});
  // The first output of such a node.
  Value Op(std::string_view op, absl::Span<const Value> inputs, NewAttrs attrs = {}) {
    return At(AddNode(op, inputs, std::move(attrs)), 0);
  }
  // Adds a node with these attributes and no others. `inputs` may have control outputs.
  NodeId AddNodeOf(std::string_view op, absl::Span<const Output> inputs, NewAttrs attrs) {
    return ok() ? Add(op, inputs, std::move(attrs)) : kNoNode;
  }
  // Gives node n this op, these attributes and `more` inputs behind the data inputs that it has.
  // The new op must have the old outputs first, with the same types; this is not checked. Calls
  // Fail for attributes or inputs that the op does not take: the node then stays changed.
  void Rewrite(NodeId n, std::string_view op, NewAttrs attrs, absl::Span<const Value> more);
  // Adds functions to the library, as bytes of FunctionDefs of names that are free.
  void AddFunctions(absl::Span<const std::string> wires);
  // AddFunction to this graph.
  std::string AddFunction(std::string_view base, const FunctionGraph& function);
  // Takes back all that Rewrite, AddFunction and AddFunctions did since the builder was made, and
  // removes all nodes from id `first` on, which was the number of node ids then. Values of these
  // nodes are of no more use. The builder must not add anything afterwards; one that has failed
  // stays failed.
  void Undo(NodeId first);

  // Nodes that compute with the graph as it was, and not gradients: where the graph is the body of
  // a function, they stay there. In the order in which they came.
  const std::vector<NodeId>& added_forward() const { return added_forward_; }
  void NoteForward(NodeId n) { added_forward_.push_back(n); }

  Value At(NodeId node, int port) { return {*this, {node, node == kNoNode ? 0 : port}}; }
  Value At(Output output) { return {*this, output}; }

  // Constants. Small ones of equal type, shape and value are one node.
  Value Constant(const Tensor& value);
  // A scalar of a floating or complex type, of an integer type of 8 bits or more, or bool; calls
  // Fail for another type. Rounds to a floating type. An integer type must be able to hold the
  // value, and drops its fraction.
  Value Scalar(DataType type, double value);
  // A matrix, and a vector, of int32 or int64. Calls Fail for a value beyond the type. The matrix
  // has `values` row by row; `columns` is above 0 and divides their number.
  Value IntMatrix(absl::Span<const int64_t> values, int64_t columns, DataType type);
  Value Ints(absl::Span<const int64_t> values, DataType type = DataType::kInt32);

 private:
  Value IntTensor(absl::Span<const int64_t> values, Shape shape, DataType type);
  NodeId Add(std::string_view op, absl::Span<const Output> inputs, NewAttrs attrs);

  // A node before Rewrite.
  struct Before {
    NodeId node;
    std::string op;
    NewAttrs attrs;
    std::vector<Output> data, control;
  };

  Graph& graph_;
  GraphShapes& shapes_;
  const ShapeOptions& options_;
  const std::string label_;
  const Nesting* nesting_;
  bool ignore_unknown_rules_ = false;
  const Sides* sides_ = nullptr;
  std::vector<Before> rewritten_;
  std::vector<NodeId> added_forward_;
  std::optional<LibraryState> library_;  // before the first AddFunctions
  absl::Status status_;
  std::string scope_;
  NodeId source_ = kNoNode;
  absl::flat_hash_map<std::string, NodeId> constants_;  // by attributes
};

}  // namespace tenon::gradients
