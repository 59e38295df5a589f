// The functions of c_api.h that change operations which a graph has already. What sessions have
// planned stays as it is.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/api/base/arguments.h"
#include "executor/api/base/op_text.h"
#include "executor/api/graph/node_checks.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/without_memory.h"
#include "graph/op_defs/op_facts.h"
#include "graph/wire/wire.h"
#include "graph/wire/wire_check.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

constexpr uint32_t kFullTypeField = 7;     // NodeDef.experimental_type
constexpr int64_t kDeepestMessages = 100;  // as protobuf reads them

// Whether both are there, and the operation is one of the graph.
bool IsOf(const TF_Operation* op, const TF_Graph* graph,
          const char* function = __builtin_FUNCTION()) {
  return IsThere(graph, function) && IsThere(op, function) && op->graph == graph;
}

// The graph must be there.
absl::Status CheckIsOf(const TF_Operation* op, const TF_Graph* graph) {
  return op != nullptr && op->graph == graph
             ? absl::OkStatus()
             : absl::InvalidArgumentError("the operation is none of the graph");
}

// Lists that were made of the edges are of no use any more. Sessions that have taken the node keep
// it as it was.
void NoteChange(TF_Graph& graph, NodeId n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  if (graph.sessions > 0) graph.changed.push_back(n);
  graph.edited.push_back(n);
  ++graph.version;
  graph.consumers.Clear();
}

absl::Status CheckInput(const TF_Graph& graph, TF_Input input)
    ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  TENON_RETURN_IF_ERROR(CheckIsOf(input.oper, &graph));
  const int count = graph.graph.num_inputs(input.oper->node);
  if (input.index >= 0 && input.index < count) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("Cannot update edge. Input index [", input.index,
                                            "] is greater than the number of total inputs [", count,
                                            "]."));
}

absl::Status UpdateEdge(TF_Graph& graph, TF_Output source, TF_Input input)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  TENON_RETURN_IF_ERROR(CheckIsOf(source.oper, &graph));
  const NodeId from = source.oper->node;
  const int count = graph.graph.num_outputs(from);
  if (source.index < 0 || source.index >= count) {
    return absl::OutOfRangeError(absl::StrCat("Cannot update edge. Output index [", source.index,
                                              "] is greater than the number of total outputs [",
                                              count, "]."));
  }
  TENON_RETURN_IF_ERROR(CheckInput(graph, input));
  const NodeId to = input.oper->node;
  const Output now = graph.graph.inputs(to)[input.index], next{from, source.index};
  const DataType wanted = graph.graph.input_type(to, input.index);
  const DataType given = graph.graph.output_type(next);
  if (given != wanted && (IsRef(wanted) || BaseType(given) != wanted)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Cannot update edge, incompatible types: ", TypeText(given), " and ",
                     TypeText(wanted), "."));
  }
  KnowShapes(graph, graph.graph.num_node_ids());
  const PartialShape& old_shape = graph.shapes.shape(now);
  const PartialShape& new_shape = graph.shapes.shape(next);
  if (!new_shape.CompatibleWith(old_shape)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Cannot update edge, incompatible shapes: ", ShapeText(new_shape), " and ",
                     ShapeText(old_shape), "."));
  }
  graph.graph.SetInput(to, input.index, next);
  NoteChange(graph, to);
  return absl::OkStatus();
}

// Sets or, where `wire` is null, takes away an attribute. One on which the types of inputs and
// outputs depend must leave them known.
absl::Status ChangeAttr(TF_Graph& graph, const TF_Operation& op, std::string_view name,
                        const std::string* wire) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  const AttrValue* had = graph.graph.attrs(op.node).Find(name);
  const std::string before(had == nullptr ? std::string_view() : had->wire());
  const bool was_there = had != nullptr;
  KnowShapes(graph, graph.graph.num_node_ids());
  if (wire != nullptr) {
    graph.graph.SetAttr(op.node, name, *wire);
  } else {
    graph.graph.RemoveAttr(op.node, name);
  }
  const absl::Status types = graph.graph.kind(op.node).types_status;
  if (!types.ok()) {
    if (was_there) {
      graph.graph.SetAttr(op.node, name, before);
    } else {
      graph.graph.RemoveAttr(op.node, name);
    }
    return absl::InvalidArgumentError(types.message());
  }
  NoteChange(graph, op.node);
  return absl::OkStatus();
}

absl::Status SetAttr(TF_Graph* graph, TF_Operation* op, const char* name, const TF_Buffer* value) {
  TENON_RETURN_IF_ERROR(CheckIsOf(op, graph));
  const std::string wire(BufferBytes(*value));
  if (CheckWire(WireMessage::kAttrValue, wire, {kDeepestMessages}).has_value())
    return absl::InvalidArgumentError("Invalid AttrValue proto");
  absl::MutexLock lock(&graph->mutex);
  return ChangeAttr(*graph, *op, name, &wire);
}

absl::Status ClearAttr(TF_Graph* graph, TF_Operation* op, const char* name) {
  TENON_RETURN_IF_ERROR(CheckIsOf(op, graph));
  absl::MutexLock lock(&graph->mutex);
  return ChangeAttr(*graph, *op, name, nullptr);
}

// Replaces the field of the operation's NodeDef.
void SetFullType(TF_Graph& graph, NodeId n, std::string_view type)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  std::string extra;
  WireReader reader(graph.graph.extra(n));
  WireField f;
  while (reader.Next(&f)) {
    if (f.number != kFullTypeField) extra.append(f.raw);
  }
  WireWriter(&extra).Bytes(kFullTypeField, type);
  graph.graph.SetExtra(n, extra);
  NoteChange(graph, n);
}

absl::Status AddWhileInput(TF_Graph& graph, TF_Output source, const TF_Operation* dst)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  TENON_ASSIGN_OR_RETURN(const Output from, OutputOf(graph, source));
  TENON_RETURN_IF_ERROR(CheckIsOf(dst, &graph));
  Graph& g = graph.graph;
  const NodeId n = dst->node;
  if (g.facts(n).calls != CallKind::kWhile) {
    return absl::InternalError(absl::StrCat(
        "dst argument to AddWhileEdgeHack should be a While op, got: ", NodeText(g, n)));
  }
  const auto count = static_cast<size_t>(g.num_inputs(n));
  const TypeVector& types = g.kind(n).types.inputs;
  if (count >= types.size()) {
    return absl::OutOfRangeError(absl::StrCat("Node '", g.name(n), "' has ", types.size(),
                                              " inputs already, as its attribute T says"));
  }
  if (BaseType(g.output_type(from)) != types[count]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Cannot add input ", count, " of node '", g.name(n), "': it is ",
        TypeText(g.output_type(from)), " where ", TypeText(types[count]), " is expected"));
  }
  std::vector<Output> data(g.data_inputs(n).begin(), g.data_inputs(n).end());
  const std::vector<Output> control(g.control_inputs(n).begin(), g.control_inputs(n).end());
  data.push_back(from);
  g.SetInputs(n, data, control);
  NoteChange(graph, n);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon::api

using tenon::StatusToC;
using tenon::api::AllGiven;
using tenon::api::IsOf;

extern "C" {

void TF_UpdateEdge(TF_Graph* graph, TF_Output new_src, TF_Input dst, TF_Status* status) try {
  if (!AllGiven({{"graph", graph}}, status)) return;
  absl::MutexLock lock(&graph->mutex);
  StatusToC(tenon::api::UpdateEdge(*graph, new_src, dst), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_AddOperationControlInput(TF_Graph* graph, TF_Operation* op, TF_Operation* input) try {
  if (!IsOf(op, graph) || !IsOf(input, graph)) return;
  absl::MutexLock lock(&graph->mutex);
  graph->graph.AddControlInput(op->node, input->node);
  tenon::api::NoteChange(*graph, op->node);
} catch (...) {
  tenon::WithoutMemory();
}

void TF_SetAttr(TF_Graph* graph, TF_Operation* op, const char* attr_name,
                TF_Buffer* attr_value_proto, TF_Status* status) try {
  if (!AllGiven({{"graph", graph},
                 {"op", op},
                 {"attr_name", attr_name},
                 {"attr_value_proto", attr_value_proto}},
                status))
    return;
  StatusToC(tenon::api::SetAttr(graph, op, attr_name, attr_value_proto), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ClearAttr(TF_Graph* graph, TF_Operation* op, const char* attr_name, TF_Status* status) try {
  if (!AllGiven({{"graph", graph}, {"op", op}, {"attr_name", attr_name}}, status)) return;
  StatusToC(tenon::api::ClearAttr(graph, op, attr_name), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_SetFullType(TF_Graph* graph, TF_Operation* op, const TF_Buffer* full_type_proto) try {
  if (!IsOf(op, graph) || !tenon::IsThere(full_type_proto)) return;
  const std::string_view type = tenon::BufferBytes(*full_type_proto);
  if (tenon::CheckWire(tenon::WireMessage::kFullType, type, {tenon::api::kDeepestMessages})
          .has_value())
    return;
  absl::MutexLock lock(&graph->mutex);
  tenon::api::SetFullType(*graph, op->node, type);
} catch (...) {
  tenon::WithoutMemory();
}

void TF_SetRequestedDevice(TF_Graph* graph, TF_Operation* op, const char* device) try {
  if (!IsOf(op, graph)) return;
  absl::MutexLock lock(&graph->mutex);
  graph->graph.SetDevice(op->node, absl::NullSafeStringView(device));
  op->device.store(nullptr, std::memory_order_release);
  tenon::api::NoteChange(*graph, op->node);
} catch (...) {
  tenon::WithoutMemory();
}

void TF_RemoveAllControlInputs(TF_Graph* graph, TF_Operation* op) try {
  if (!IsOf(op, graph)) return;
  absl::MutexLock lock(&graph->mutex);
  graph->graph.SetInputs(op->node, graph->graph.data_inputs(op->node), {});
  tenon::api::NoteChange(*graph, op->node);
} catch (...) {
  tenon::WithoutMemory();
}

void TF_SetRequireShapeInferenceFns(TF_Graph* graph, bool require) {
  if (!tenon::IsThere(graph)) return;
  absl::MutexLock lock(&graph->mutex);
  graph->require_shape_fns = require;
}

void TF_AddWhileInputHack(TF_Graph* graph, TF_Output new_src, TF_Operation* dst,
                          TF_Status* status) try {
  if (!AllGiven({{"graph", graph}, {"dst", dst}}, status)) return;
  absl::MutexLock lock(&graph->mutex);
  StatusToC(tenon::api::AddWhileInput(*graph, new_src, dst), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
