// The functions of c_api.h that describe a new operation and add it. A description that is NULL, or
// an argument that is, shows in the status of TF_FinishOperation: nothing before it has a status.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/api/base/arguments.h"
#include "executor/api/graph/tf_operation_description.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/without_memory.h"
#include "graph/ir/colocation.h"
#include "tenon/tenon_c.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

// The lock of `graph` must be held.
TF_OperationDescription* Describe(TF_Graph* graph, const char* op_type, const char* oper_name) {
  auto* const desc = TF_OperationDescription::Pool::New(*graph, absl::NullSafeStringView(op_type),
                                                        absl::NullSafeStringView(oper_name));
  if (op_type == nullptr) desc->builder.Fail("argument 'op_type' is NULL");
  if (oper_name == nullptr) desc->builder.Fail("argument 'oper_name' is NULL");
  return desc;
}

// The lock of the graph, that of the description, must be held.
TF_Operation* Finish(TF_OperationDescription& desc, TF_Graph& graph, TF_Status* status) {
  const absl::StatusOr<NodeId> n =
      desc.lacks_memory ? absl::StatusOr<NodeId>(OutOfMemory()) : desc.builder.Finish();
  if (!n.ok()) {
    StatusToC(n.status(), status);
    return nullptr;
  }
  ClearStatus(status);
  return &graph.operations[*n];
}

// Frees a description that is there. Sets INVALID_ARGUMENT if its graph was deleted.
class Finished {
 public:
  Finished(TF_OperationDescription* desc, TF_Status* status)
      : desc_(desc), graph_(desc->graph.get()) {
    if (graph_ == nullptr)
      StatusToC(absl::InvalidArgumentError("the graph of 'desc' was deleted"), status);
  }
  ~Finished() { TF_OperationDescription::Pool::Delete(desc_); }
  Finished(const Finished&) = delete;
  Finished& operator=(const Finished&) = delete;

  TF_OperationDescription& desc() { return *desc_; }
  TF_Graph* graph() { return graph_; }  // null if it was deleted

 private:
  TF_OperationDescription* const desc_;
  TF_Graph* const graph_;
};

}  // namespace
}  // namespace tenon::api

using tenon::IsThere;
using tenon::api::AllGiven;
using tenon::api::GraphOf;

extern "C" {

TF_OperationDescription* TF_NewOperationLocked(TF_Graph* graph, const char* op_type,
                                               const char* oper_name) try {
  return IsThere(graph) ? tenon::api::Describe(graph, op_type, oper_name) : nullptr;
} catch (...) {
  return tenon::WithoutMemory();
}

TF_OperationDescription* TF_NewOperation(TF_Graph* graph, const char* op_type,
                                         const char* oper_name) try {
  if (!IsThere(graph)) return nullptr;
  absl::ReaderMutexLock lock(&graph->mutex);
  return tenon::api::Describe(graph, op_type, oper_name);
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_SetDevice(TF_OperationDescription* desc, const char* device) try {
  if (IsThere(desc)) desc->builder.SetDevice(absl::NullSafeStringView(device));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_AddInput(TF_OperationDescription* desc, TF_Output input) try {
  TF_Graph* const graph = GraphOf(desc);
  if (graph == nullptr) return;
  absl::ReaderMutexLock lock(&graph->mutex);
  desc->builder.AddInput(input);
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_AddInputList(TF_OperationDescription* desc, const TF_Output* inputs, int num_inputs) try {
  TF_Graph* const graph = GraphOf(desc);
  if (graph == nullptr) return;
  if (!tenon::api::IsCount(num_inputs) || (num_inputs > 0 && inputs == nullptr))
    return desc->builder.Fail(absl::StrCat("argument 'inputs' is no array of ", num_inputs));
  absl::ReaderMutexLock lock(&graph->mutex);
  desc->builder.AddInputList(absl::MakeConstSpan(inputs, num_inputs));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_AddControlInput(TF_OperationDescription* desc, TF_Operation* input) try {
  TF_Graph* const graph = GraphOf(desc);
  if (graph == nullptr) return;
  absl::ReaderMutexLock lock(&graph->mutex);
  desc->builder.AddControlInput(input);
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_ColocateWith(TF_OperationDescription* desc, TF_Operation* op) try {
  TF_Graph* const graph = GraphOf(desc);
  if (graph == nullptr) return;
  if (op == nullptr || op->graph != graph)
    return desc->builder.Fail("argument 'op' is no operation of the graph");
  absl::ReaderMutexLock lock(&graph->mutex);
  desc->builder.colocation().insert(
      absl::StrCat(tenon::kColocationPrefix, graph->graph.name(op->node)));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

TF_Operation* TF_FinishOperationLocked(TF_OperationDescription* desc, TF_Status* status) try {
  if (!AllGiven({{"desc", desc}}, status)) return nullptr;
  tenon::api::Finished finished(desc, status);
  if (finished.graph() == nullptr) return nullptr;
  return tenon::api::Finish(finished.desc(), *finished.graph(), status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Operation* TF_FinishOperation(TF_OperationDescription* desc, TF_Status* status) try {
  if (!AllGiven({{"desc", desc}}, status)) return nullptr;
  tenon::api::Finished finished(desc, status);
  if (finished.graph() == nullptr) return nullptr;
  absl::MutexLock lock(&finished.graph()->mutex);
  return tenon::api::Finish(finished.desc(), *finished.graph(), status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TENON_SetNodePlace(TF_OperationDescription* desc, const char* place) try {
  if (place != nullptr && tenon::IsThere(desc)) desc->builder.SetPlace(place);
} catch (...) {
  tenon::WithoutMemory();
}

}  // extern "C"
