// The functions of c_api.h that describe a new operation and add it. A description that is NULL, or
// an argument that is, shows in the status of TF_FinishOperation: nothing before it has a status.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/api/base/arguments.h"
#include "executor/api/graph/tf_operation_description.h"
#include "graph/ir/colocation.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

// The lock of `graph` must be held.
TF_OperationDescription* Describe(TF_Graph* graph, const char* op_type, const char* oper_name) {
  if (graph == nullptr) return nullptr;
  auto desc = std::make_unique<TF_OperationDescription>(*graph, absl::NullSafeStringView(op_type),
                                                        absl::NullSafeStringView(oper_name));
  if (op_type == nullptr) desc->builder.Fail("argument 'op_type' is NULL");
  if (oper_name == nullptr) desc->builder.Fail("argument 'oper_name' is NULL");
  return desc.release();
}

// The lock of the description's graph must be held.
TF_Operation* Finish(TF_OperationDescription& desc, TF_Status* status) {
  const absl::StatusOr<NodeId> n = desc.builder.Finish();
  if (!n.ok()) {
    StatusToC(n.status(), status);
    return nullptr;
  }
  ClearStatus(status);
  return &desc.graph->operations[*n];
}

}  // namespace
}  // namespace tenon::api

using tenon::api::AllGiven;

extern "C" {

TF_OperationDescription* TF_NewOperationLocked(TF_Graph* graph, const char* op_type,
                                               const char* oper_name) {
  return tenon::api::Describe(graph, op_type, oper_name);
}

TF_OperationDescription* TF_NewOperation(TF_Graph* graph, const char* op_type,
                                         const char* oper_name) {
  if (graph == nullptr) return nullptr;
  absl::ReaderMutexLock lock(&graph->mutex);
  return tenon::api::Describe(graph, op_type, oper_name);
}

void TF_SetDevice(TF_OperationDescription* desc, const char* device) {
  if (desc != nullptr) desc->builder.SetDevice(absl::NullSafeStringView(device));
}

void TF_AddInput(TF_OperationDescription* desc, TF_Output input) {
  if (desc == nullptr) return;
  absl::ReaderMutexLock lock(&desc->graph->mutex);
  desc->builder.AddInput(input);
}

void TF_AddInputList(TF_OperationDescription* desc, const TF_Output* inputs, int num_inputs) {
  if (desc == nullptr) return;
  if (num_inputs < 0 || (num_inputs > 0 && inputs == nullptr))
    return desc->builder.Fail(absl::StrCat("argument 'inputs' is no array of ", num_inputs));
  absl::ReaderMutexLock lock(&desc->graph->mutex);
  desc->builder.AddInputList(absl::MakeConstSpan(inputs, num_inputs));
}

void TF_AddControlInput(TF_OperationDescription* desc, TF_Operation* input) {
  if (desc == nullptr) return;
  absl::ReaderMutexLock lock(&desc->graph->mutex);
  desc->builder.AddControlInput(input);
}

void TF_ColocateWith(TF_OperationDescription* desc, TF_Operation* op) {
  if (desc == nullptr) return;
  if (op == nullptr || op->graph != desc->graph)
    return desc->builder.Fail("argument 'op' is no operation of the graph");
  absl::ReaderMutexLock lock(&desc->graph->mutex);
  desc->builder.colocation().insert(
      absl::StrCat(tenon::kColocationPrefix, desc->graph->graph.name(op->node)));
}

TF_Operation* TF_FinishOperationLocked(TF_OperationDescription* desc, TF_Status* status) {
  if (!AllGiven({{"desc", desc}}, status)) return nullptr;
  const std::unique_ptr<TF_OperationDescription> owned(desc);
  return tenon::api::Finish(*owned, status);
}

TF_Operation* TF_FinishOperation(TF_OperationDescription* desc, TF_Status* status) {
  if (!AllGiven({{"desc", desc}}, status)) return nullptr;
  const std::unique_ptr<TF_OperationDescription> owned(desc);
  absl::MutexLock lock(&owned->graph->mutex);
  return tenon::api::Finish(*owned, status);
}

}  // extern "C"
