// Collects the parts of a new node, infers attributes from its inputs, and adds the node.
#pragma once

#include <list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_def.h"

namespace tenon::api {

// Behaves as TensorFlow's NodeBuilder, error messages included. The methods note errors for Finish.
// If errors were noted, Finish returns the first of these that there are: a name that is taken; the
// errors of inputs and of Fail; all other errors. Not thread-safe. The graph must outlive the
// builder.
// The caller holds graph.mutex while it calls the constructor, Finish or a method that adds inputs.
class OperationBuilder {
 public:
  OperationBuilder(TF_Graph& graph, std::string_view op, std::string_view name);

  // Each call gives the next input argument of the OpDef: AddInput one tensor, AddInputList a list
  // of tensors. It is an error to give an operation that is null, deleted or of another graph, or
  // an output that the operation lacks. A control input that is given twice counts once.
  void AddInput(TF_Output input);
  void AddInputList(absl::Span<const TF_Output> inputs);
  void AddControlInput(const TF_Operation* input);
  // `wire` is AttrValue bytes. It is an error to give an attribute, also an inferred one, a
  // different value; the first value stays.
  void SetAttr(std::string_view name, std::string wire);
  void SetDevice(std::string_view device) { device_ = device; }
  // Where the program makes the node, for messages and reports.
  void SetPlace(std::string_view place) { place_ = place; }
  // Notes an error with this message for Finish to return.
  void Fail(std::string message) { node_errors_.push_back(std::move(message)); }
  // The groups of colocation, "loc:@node", which become the attribute _class.
  std::set<std::string>& colocation() { return colocation_; }

  // Adds the node, checks it and infers its shapes. To be called once. INVALID_ARGUMENT if the op
  // is not registered, if the name is taken, if inputs or attributes do not fit the op, or if
  // colocation() has groups and the attribute _class was set too. Other errors are those of
  // Graph::AddNode and of CheckNewNode, the shape function's among them. After an error the node is
  // not in the graph.
  absl::StatusOr<NodeId> Finish();

 private:
  const ArgDef* NextArg();
  bool TypeOf(TF_Output input, DataType* type);
  void AddNodeError(const TF_Operation* input, int index);
  void CheckInputType(const ArgDef& arg, DataType wanted, DataType given);
  void CheckInputRef(const ArgDef& arg, DataType given);
  void InferFromOne(const ArgDef& arg, DataType type);
  void InferFromList(const ArgDef& arg, absl::Span<const DataType> types);
  std::string_view KeptName(std::string_view attr);
  absl::Status Errors() const;

  TF_Graph& graph_;
  const OpDef* op_;
  std::string op_name_, name_, device_, place_;
  absl::InlinedVector<Output, 8> inputs_;  // data inputs
  absl::InlinedVector<Output, 4> control_;
  NewAttrs attrs_;
  std::list<std::string> names_;  // of attributes that the op does not have
  std::set<std::string> colocation_;
  size_t args_given_ = 0;
  std::vector<std::string> node_errors_, errors_;
};

}  // namespace tenon::api
