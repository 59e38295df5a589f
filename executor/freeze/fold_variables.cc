#include "executor/freeze/fold_variables.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"

namespace tenon {
namespace {

using Attrs = google::protobuf::Map<std::string, pb::AttrValue>;

bool IsControl(std::string_view reference) { return reference.starts_with('^'); }

// The node or argument in "^node", "node:1" or "node:result:1".
std::string_view NodeOf(std::string_view reference) {
  absl::ConsumePrefix(&reference, "^");
  return reference.substr(0, reference.find(':'));
}

// The nodes, producers first. Only a loop of version 1 has a cycle; the edge that closes it is
// skipped.
std::vector<pb::NodeDef*> InOrder(google::protobuf::RepeatedPtrField<pb::NodeDef>& nodes) {
  absl::flat_hash_map<std::string_view, int> by_name;
  for (int i = 0; i < nodes.size(); ++i) by_name.emplace(nodes[i].name(), i);
  std::vector<pb::NodeDef*> order;
  std::vector<bool> seen(nodes.size());
  std::vector<std::pair<int, int>> stack;  // node, next input
  for (int root = 0; root < nodes.size(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [n, input] = stack.back();
      if (input == nodes[n].input_size()) {
        order.push_back(&nodes[n]);
        stack.pop_back();
        continue;
      }
      const auto from = by_name.find(NodeOf(nodes[n].input(input++)));
      if (from == by_name.end() || seen[from->second]) continue;
      seen[from->second] = true;
      stack.emplace_back(from->second, 0);
    }
  }
  return order;
}

// Replaces the data inputs and keeps the control inputs behind them.
void SetDataInputs(pb::NodeDef& node, const std::vector<std::string>& data) {
  std::vector<std::string> inputs = data;
  for (const std::string& input : node.input()) {
    if (IsControl(input)) inputs.push_back(input);
  }
  node.clear_input();
  for (std::string& input : inputs) node.add_input(std::move(input));
}

void SetOp(pb::NodeDef& node, const std::string& op, Attrs attrs) {
  node.set_op(op);
  *node.mutable_attr() = std::move(attrs);
  node.clear_experimental_type();
}

pb::AttrValue TypeAttr(pb::DataType type) {
  pb::AttrValue value;
  value.set_type(type);
  return value;
}

pb::AttrValue AttrOr(const pb::NodeDef& node, const std::string& name, pb::AttrValue otherwise) {
  const auto it = node.attr().find(name);
  if (it != node.attr().end()) return it->second;
  return otherwise;
}

// A scalar Const. The caller adds the element.
pb::NodeDef ScalarConst(const std::string& name, pb::DataType dtype) {
  pb::NodeDef node;
  node.set_name(name);
  node.set_op("Const");
  (*node.mutable_attr())["dtype"] = TypeAttr(dtype);
  pb::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
  tensor.set_dtype(dtype);
  tensor.mutable_tensor_shape();
  return node;
}

}  // namespace

VariableFolder::VariableFolder(pb::GraphDef& graph, std::set<std::string> kept,
                               bool keep_in_functions)
    : graph_(graph), kept_(std::move(kept)), keep_in_functions_(keep_in_functions) {
  for (pb::FunctionDef& function : *graph.mutable_library()->mutable_function())
    library_[function.signature().name()].Swap(&function);
}

absl::StatusOr<std::vector<std::string>> VariableFolder::Run() {
  Scope scope;
  TENON_RETURN_IF_ERROR(RewriteNodes(scope, *graph_.mutable_node()));
  for (const pb::NodeDef& node : graph_.node()) TENON_RETURN_IF_ERROR(CheckReferences(node));
  DropUncalledFunctions();
  return std::move(variables_);
}

absl::Status VariableFolder::RewriteNodes(Scope& scope, Nodes& nodes) {
  for (const pb::NodeDef& node : nodes) scope.ops.emplace(node.name(), node.op());
  for (pb::NodeDef* node : InOrder(nodes)) TENON_RETURN_IF_ERROR(RewriteNode(scope, *node));
  for (pb::NodeDef& node : nodes) {
    for (std::string& input : *node.mutable_input()) {
      const auto renamed = scope.renamed.find(input);
      if (renamed != scope.renamed.end()) input = renamed->second;
    }
  }
  for (pb::NodeDef& node : scope.added) *nodes.Add() = std::move(node);
  return absl::OkStatus();
}

absl::Status VariableFolder::RewriteNode(Scope& scope, pb::NodeDef& node) {
  const std::string& op = node.op();
  if (OpRegistry::Global().Facts(op).state == State::kVariable) {
    const bool stays = scope.function.empty() ? kept_.contains(node.name()) : keep_in_functions_;
    return stays ? absl::OkStatus() : MakePlaceholder(scope, node);
  }
  const Handles inputs = InputsOf(scope, node);
  TENON_ASSIGN_OR_RETURN(const bool is_call, RewriteCall(scope, node, inputs));
  const auto first = std::find_if(inputs.begin(), inputs.end(),
                                  [](const std::optional<Handle>& h) { return h.has_value(); });
  if (is_call || first == inputs.end()) return absl::OkStatus();
  return RewriteReader(scope, node, **first);
}

absl::Status VariableFolder::MakePlaceholder(Scope& scope, pb::NodeDef& node) {
  if (!scope.function.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        NodeText(scope.function, node),
        " makes a variable; only those that the graph's own nodes make can be folded (--keep-state "
        "keeps others)"));
  }
  const pb::DataType dtype = AttrOr(node, "dtype", TypeAttr(pb::DT_INVALID)).type();
  if (node.op() == "VarHandleOp") {
    SetResults(scope, node, {Handle{dtype, node.name()}});
  } else {
    references_.emplace(node.name(), node.op());
  }
  Attrs attrs;
  attrs["dtype"] = TypeAttr(dtype);
  SetOp(node, "Placeholder", std::move(attrs));
  variables_.push_back(node.name());
  return absl::OkStatus();
}

// Any write refuses the variable, even one that no run would reach: a frozen graph has no state
// unless --keep-state asks for it.
absl::Status VariableFolder::RefuseWrite(const std::string& variable, const std::string& function,
                                         const pb::NodeDef& node) {
  written_ = variable;
  return absl::FailedPreconditionError(
      absl::StrCat("variable '", variable, "' is written by ", NodeText(function, node),
                   "; only variables that are read can be folded (--keep-state keeps others)"));
}

// Refuses nodes that take a variable of version 1 by reference, which is to write it.
absl::Status VariableFolder::CheckReferences(const pb::NodeDef& node) {
  const OpDef* op = OpRegistry::Global().Find(node.op());
  for (int i = 0; op != nullptr && i < node.input_size(); ++i) {
    const std::string variable(NodeOf(node.input(i)));
    if (IsControl(node.input(i)) || !references_.contains(variable)) continue;
    // The last argument of an op may be a list, and then takes all further inputs.
    const size_t arg = std::min(static_cast<size_t>(i), op->inputs.size() - 1);
    if (!op->inputs.empty() && op->inputs[arg].is_ref) return RefuseWrite(variable, "", node);
  }
  return absl::OkStatus();
}

absl::Status VariableFolder::RewriteReader(Scope& scope, pb::NodeDef& node, const Handle& handle) {
  const std::string op = node.op();
  // In functions a reference names the result, and the new op calls its result `output`.
  const auto rename = [&](std::string_view from) {
    for (const char* end : {"", ":0"})
      scope.renamed.emplace(absl::StrCat(node.name(), ":", from, end),
                            absl::StrCat(node.name(), ":output:0"));
  };
  const bool gathers = op == "ResourceGather" || op == "ResourceGatherNd";
  if (op == "ReadVariableOp" || gathers) {
    const pb::DataType asked = AttrOr(node, "dtype", TypeAttr(handle.dtype)).type();
    if (asked != handle.dtype) {
      return absl::InvalidArgumentError(absl::StrCat(
          NodeText(scope.function, node), " reads variable '", handle.variable, "' as ",
          pb::DataType_Name(asked), ", and it is ", pb::DataType_Name(handle.dtype)));
    }
  }
  Attrs attrs;
  if (op == "ReadVariableOp") {
    attrs["T"] = TypeAttr(handle.dtype);
    SetOp(node, "Identity", std::move(attrs));
    rename("value");
  } else if (op == "VariableShape") {
    attrs["T"] = TypeAttr(handle.dtype);
    attrs["out_type"] = AttrOr(node, "out_type", TypeAttr(pb::DT_INT32));
    SetOp(node, "Shape", std::move(attrs));
  } else if (op == "VarIsInitializedOp") {
    pb::NodeDef yes = ScalarConst(node.name(), pb::DT_BOOL);
    (*yes.mutable_attr())["value"].mutable_tensor()->add_bool_val(true);
    SetOp(node, "Const", std::move(*yes.mutable_attr()));
    SetDataInputs(node, {});
    rename("is_initialized");
  } else if (op == "DisableCopyOnRead") {
    SetOp(node, "NoOp", {});
    SetDataInputs(node, {});
  } else if (gathers) {
    RewriteGather(scope, node, handle);
  } else if (op == "Identity" || op == "Switch" || op == "Merge" || op == "Enter" || op == "Exit" ||
             op == "NextIteration") {
    PassOn(scope, node, handle);
  } else {
    return RefuseWrite(handle.variable, scope.function, node);
  }
  return absl::OkStatus();
}

void VariableFolder::RewriteGather(Scope& scope, pb::NodeDef& node, const Handle& handle) {
  Attrs attrs;
  attrs["Tparams"] = TypeAttr(handle.dtype);
  attrs["Tindices"] = AttrOr(node, "Tindices", TypeAttr(pb::DT_INT32));
  if (node.op() == "ResourceGatherNd") return SetOp(node, "GatherNd", std::move(attrs));
  pb::AttrValue batch_dims;
  batch_dims.set_i(0);
  batch_dims = AttrOr(node, "batch_dims", batch_dims);
  attrs["batch_dims"] = batch_dims;
  attrs["Taxis"] = TypeAttr(pb::DT_INT32);
  std::string name = absl::StrCat(node.name(), "/axis");
  while (!scope.ops.emplace(name, "Const").second) name += "_1";
  pb::NodeDef& axis = scope.added.emplace_back(ScalarConst(name, pb::DT_INT32));
  (*axis.mutable_attr())["value"].mutable_tensor()->add_int_val(
      static_cast<int32_t>(batch_dims.i()));
  std::vector<std::string> inputs;
  for (const std::string& input : node.input()) {
    if (!IsControl(input)) inputs.push_back(input);
  }
  inputs.push_back(scope.function.empty() ? name : absl::StrCat(name, ":output:0"));
  SetOp(node, "GatherV2", std::move(attrs));
  SetDataInputs(node, inputs);
}

// The node stays and passes the value on in place of the handle.
void VariableFolder::PassOn(Scope& scope, pb::NodeDef& node, const Handle& handle) {
  (*node.mutable_attr())["T"] = TypeAttr(handle.dtype);
  node.mutable_attr()->erase("_output_shapes");
  node.clear_experimental_type();
  SetResults(scope, node, node.op() == "Switch" ? Handles{handle, handle} : Handles{handle});
}

VariableFolder::Handles VariableFolder::InputsOf(const Scope& scope,
                                                 const pb::NodeDef& node) const {
  Handles handles;
  for (const std::string& input : node.input()) {
    // Control inputs come last.
    if (IsControl(input)) break;
    const Handle* handle = Find(scope, input);
    handles.push_back(handle == nullptr ? std::optional<Handle>() : *handle);
  }
  return handles;
}

const VariableFolder::Handle* VariableFolder::Find(const Scope& scope,
                                                   std::string_view reference) const {
  const std::string_view name = NodeOf(reference);
  std::string_view output = reference.substr(name.size());
  absl::ConsumePrefix(&output, ":");
  std::string index(output);
  if (!scope.function.empty()) {  // "result:index"
    const size_t colon = output.find(':');
    const std::string_view result = output.substr(0, colon);
    index = colon == output.npos ? "" : std::string(output.substr(colon + 1));
    const auto op = scope.ops.find(name);
    const auto callee = op == scope.ops.end() ? library_.end() : library_.find(op->second);
    if (callee != library_.end()) {
      const auto& results = callee->second.signature().output_arg();
      const auto found = std::find_if(results.begin(), results.end(),
                                      [&](const auto& arg) { return arg.name() == result; });
      index = absl::StrCat(found - results.begin());
    } else if (result == "value_index" || result == "output_true") {
      index = "1";
    }
  }
  const auto it =
      scope.handles.find(absl::StrCat(name, ":", index.empty() ? std::string_view("0") : index));
  return it == scope.handles.end() ? nullptr : &it->second;
}

void VariableFolder::SetResults(Scope& scope, const pb::NodeDef& node,
                                const Handles& results) const {
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].has_value()) scope.handles[absl::StrCat(node.name(), ":", i)] = *results[i];
  }
}

}  // namespace tenon
