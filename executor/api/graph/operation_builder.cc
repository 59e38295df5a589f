#include "executor/api/graph/operation_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/api/base/attr_checks.h"
#include "executor/api/base/op_text.h"
#include "executor/api/graph/node_checks.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/ir/colocation.h"
#include "graph/ir/node_places.h"
#include "graph/op_defs/op_registry.h"

namespace tenon::api {
namespace {

// A reference may be read as a value, never a value as a reference.
bool Fits(DataType wanted, DataType given) {
  return given == wanted || (!IsRef(wanted) && BaseType(given) == wanted);
}

}  // namespace

OperationBuilder::OperationBuilder(TF_Graph& graph, std::string_view op, std::string_view name)
    : graph_(graph), op_(graph.graph.FindOp(op)), op_name_(op), name_(name) {
  if (op_ == nullptr)
    errors_.emplace_back(OpNotRegistered(op).message());
  else
    attrs_.reserve(op_->attrs.size());
}

void OperationBuilder::AddNodeError(const TF_Operation* input, int index) {
  if (input == nullptr) {
    node_errors_.push_back(
        absl::StrCat("Attempt to add nullptr Node to node with type ", op_name_));
  } else if (input->is_deleted()) {
    node_errors_.push_back(
        absl::StrCat("Attempt to add a node of a deleted graph to node with type ", op_name_));
  } else if (input->graph != &graph_) {
    node_errors_.push_back(
        absl::StrCat("Attempt to add a node of another graph to node with type ", op_name_));
  } else {
    const std::string_view name = graph_.graph.name(input->node);
    node_errors_.push_back(absl::StrCat("Attempt to add output ", index, " of ", name,
                                        " not in range [0, ", graph_.graph.num_outputs(input->node),
                                        ") to node with type ", op_name_,
                                        ". Node: ", NodeNameText(name)));
  }
}

bool OperationBuilder::TypeOf(TF_Output input, DataType* type) {
  const absl::StatusOr<Output> output = OutputOf(graph_, input);
  if (!output.ok()) {
    AddNodeError(input.oper, input.index);
    return false;
  }
  const std::string_view name = graph_.graph.name(output->node);
  if (name.empty()) errors_.push_back("Empty input node name");
  if (name.starts_with('^'))
    errors_.push_back(absl::StrCat("Non-control input starting with ^: ", name));
  inputs_.push_back(*output);
  *type = graph_.graph.output_type(*output);
  return true;
}

const ArgDef* OperationBuilder::NextArg() {
  if (op_ == nullptr) return nullptr;
  if (args_given_ < op_->inputs.size()) return &op_->inputs[args_given_++];
  errors_.push_back(absl::StrCat("More Input() calls than the ", args_given_, " input_args"));
  return nullptr;
}

void OperationBuilder::CheckInputType(const ArgDef& arg, DataType wanted, DataType given) {
  if (arg.is_ref) wanted = MakeRef(wanted);
  if (Fits(wanted, given)) return;
  errors_.push_back(absl::StrCat("Input '", arg.name, "' passed ", TypeText(given), " expected ",
                                 TypeText(wanted)));
}

void OperationBuilder::CheckInputRef(const ArgDef& arg, DataType given) {
  if (!arg.is_ref || IsRef(given)) return;
  errors_.push_back(
      absl::StrCat("Input '", arg.name, "' passed ", TypeText(given), " expected ref type"));
}

void OperationBuilder::AddInput(TF_Output input) {
  DataType type;
  if (!TypeOf(input, &type)) return;
  if (const ArgDef* arg = NextArg()) InferFromOne(*arg, type);
}

void OperationBuilder::InferFromOne(const ArgDef& arg, DataType type) {
  if (!arg.number_attr.empty() || !arg.type_list_attr.empty()) {
    errors_.push_back(absl::StrCat("Single tensor passed to '", arg.name, "', expected list"));
  } else if (arg.type != DataType::kInvalid) {
    CheckInputType(arg, arg.type, type);
  } else {
    CheckInputRef(arg, type);
    SetAttr(arg.type_attr, attr::Type(BaseType(type)));
  }
}

void OperationBuilder::AddInputList(absl::Span<const TF_Output> inputs) {
  std::vector<DataType> types(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!TypeOf(inputs[i], &types[i])) return;
  }
  if (const ArgDef* arg = NextArg()) InferFromList(*arg, types);
}

void OperationBuilder::InferFromList(const ArgDef& arg, absl::Span<const DataType> types) {
  if (!arg.number_attr.empty()) {
    SetAttr(arg.number_attr, attr::Int(static_cast<int64_t>(types.size())));
    DataType wanted = arg.type;
    if (wanted == DataType::kInvalid && !types.empty()) {
      wanted = BaseType(types[0]);
      SetAttr(arg.type_attr, attr::Type(wanted));
    }
    for (DataType type : types) CheckInputType(arg, wanted, type);
  } else if (!arg.type_list_attr.empty()) {
    std::vector<DataType> base;
    for (DataType type : types) {
      CheckInputRef(arg, type);
      base.push_back(BaseType(type));
    }
    SetAttr(arg.type_list_attr, attr::TypeList(base));
  } else {
    errors_.push_back(
        absl::StrCat("List provided to input '", arg.name, "' when single Tensor expected"));
  }
}

void OperationBuilder::AddControlInput(const TF_Operation* input) {
  if (input == nullptr || input->graph != &graph_) return AddNodeError(input, kControlPort);
  const Output control{input->node, kControlPort};
  if (std::find(control_.begin(), control_.end(), control) == control_.end())
    control_.push_back(control);
}

std::string_view OperationBuilder::KeptName(std::string_view attr) {
  const AttrDef* def = op_ == nullptr ? nullptr : op_->FindAttr(attr);
  return def != nullptr ? std::string_view(def->name) : names_.emplace_back(attr);
}

void OperationBuilder::SetAttr(std::string_view name, std::string wire) {
  for (const Graph::NewAttr& a : attrs_) {
    if (a.name != name) continue;
    const AttrValue was(a.wire), is(wire);
    if (!SameAttr(was, is)) {
      errors_.push_back(absl::StrCat("Inconsistent values for attr '", name, "' ", AttrText(was),
                                     " vs. ", AttrText(is)));
    }
    return;
  }
  attrs_.push_back({KeptName(name), std::move(wire)});
}

// Most functions of the C API that describe a node have no status, so errors are collected until
// Finish tells them all. Errors of single inputs come alone: an input that could
// not be read would bring errors of types and numbers of inputs with it.
absl::Status OperationBuilder::Errors() const {
  if (!node_errors_.empty()) return absl::InvalidArgumentError(absl::StrJoin(node_errors_, "\n"));
  std::vector<std::string> errors = errors_;
  if (op_ != nullptr && args_given_ < op_->inputs.size()) {
    errors.push_back(
        absl::StrCat(args_given_, " inputs specified of ", op_->inputs.size(), " inputs in Op"));
  }
  if (errors.empty()) return absl::OkStatus();
  const std::string where =
      absl::StrCat(" while building NodeDef '", name_, "'", op_ == nullptr ? "" : " using ",
                   op_ == nullptr ? "" : OpText(*op_));
  if (errors.size() == 1) return absl::InvalidArgumentError(absl::StrCat(errors[0], where));
  return absl::InvalidArgumentError(
      absl::StrCat(errors.size(), " errors", where, ":\n", absl::StrJoin(errors, "\n")));
}

absl::StatusOr<NodeId> OperationBuilder::Finish() {
  const auto duplicate = [&] {
    return absl::InvalidArgumentError(absl::StrCat("Duplicate node name in graph: '", name_, "'"));
  };
  if (!node_errors_.empty() || !errors_.empty() || args_given_ < op_->inputs.size())
    return graph_.graph.FindNode(name_) == kNoNode ? Errors() : duplicate();
  if (!colocation_.empty()) {
    const std::vector<std::string_view> groups(colocation_.begin(), colocation_.end());
    for (const auto& given : attrs_) {
      if (given.name != kColocationAttr) continue;
      const std::string groups_wire = attr::StringList(groups);
      return absl::InvalidArgumentError(
          absl::StrCat("Inconsistent values for attr '", kColocationAttr, "' ",
                       AttrText(AttrValue(given.wire)), " vs. ", AttrText(AttrValue(groups_wire)),
                       " while building NodeDef '", name_, "' using ", OpText(*op_)));
    }
    attrs_.push_back({kColocationAttr, attr::StringList(groups)});
  }
  inputs_.insert(inputs_.end(), control_.begin(), control_.end());
  absl::StatusOr<NodeId> n =
      graph_.graph.AddNode(name_, op_name_, inputs_, std::move(attrs_), device_);
  if (absl::IsAlreadyExists(n.status())) return duplicate();
  if (!n.ok()) return n;
  absl::Status finished = WithinMemory([&]() -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckNewNode(graph_, *n));
    if (!place_.empty()) graph_.graph.SetExtra(*n, DebugInfo(name_, place_));
    NoteNewNodes(graph_);
    return absl::OkStatus();
  });
  if (finished.ok()) return n;
  graph_.graph.RemoveLastNode();
  graph_.shapes.Truncate(*n);
  graph_.operations.Truncate(static_cast<size_t>(*n));
  return finished;
}

}  // namespace tenon::api
