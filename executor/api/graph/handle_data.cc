// What is known of the values behind handles: TF_GetHandleShapeAndType and its counterpart.
#include <climits>
#include <memory>
#include <string>

#include "executor/api/base/arguments.h"
#include "executor/api/graph/node_checks.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/without_memory.h"
#include "graph/tensor/shape_wire.h"
#include "proto/shape_inference_result.pb.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

using HandleData = pb::CppShapeInferenceResult::HandleData;

// Empty if nothing is known.
std::string HandleDataOf(TF_Graph& graph, TF_Output output)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  const absl::StatusOr<Output> o = OutputOf(graph, output);
  if (!o.ok()) return {};
  const auto given = graph.handle_data.find(*o);
  if (given != graph.handle_data.end()) return given->second;
  KnowShapes(graph, graph.graph.num_node_ids());
  const TensorInfo& info = graph.shapes.info(*o);
  if (info.handle_shape == nullptr) return {};
  HandleData data;
  data.set_is_set(true);
  pb::CppShapeInferenceResult::HandleShapeAndType& one = *data.add_shape_and_type();
  one.mutable_shape()->ParseFromString(ShapeToWire(*info.handle_shape));
  one.set_dtype(static_cast<pb::DataType>(info.handle_type));
  one.mutable_type();
  return data.SerializeAsString();
}

absl::Status SetHandleData(TF_Graph& graph, TF_Output output, std::string_view wire)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  HandleData data;
  if (wire.size() > INT_MAX || !data.ParseFromArray(wire.data(), static_cast<int>(wire.size())))
    return absl::InvalidArgumentError("Couldn't deserialize HandleData proto");
  TENON_ASSIGN_OR_RETURN(const Output o, OutputOf(graph, output));
  for (const auto& one : data.shape_and_type())
    TENON_RETURN_IF_ERROR(ShapeFromWire(one.shape().SerializeAsString()).status());
  KnowShapes(graph, graph.graph.num_node_ids());
  TensorInfo info = graph.shapes.info(o);
  info.handle_shape = nullptr;
  info.handle_type = DataType::kInvalid;
  if (data.shape_and_type_size() == 1) {
    const auto& one = data.shape_and_type(0);
    TENON_ASSIGN_OR_RETURN(PartialShape shape, ShapeFromWire(one.shape().SerializeAsString()));
    info.handle_shape = std::make_shared<const PartialShape>(std::move(shape));
    info.handle_type = static_cast<DataType>(one.dtype());
  }
  graph.shapes.Set(o, std::move(info));
  data.set_is_set(true);
  graph.handle_data[o] = data.SerializeAsString();
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon::api

extern "C" {

TF_Buffer* TF_GetHandleShapeAndType(TF_Graph* graph, TF_Output output) try {
  if (!tenon::IsThere(graph)) return nullptr;
  absl::MutexLock lock(&graph->mutex);
  const std::string data = tenon::api::HandleDataOf(*graph, output);
  return data.empty() ? nullptr : tenon::NewBuffer(data);
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_SetHandleShapeAndType(TF_Graph* graph, TF_Output output, const void* proto,
                              size_t proto_len, TF_Status* status) try {
  if (!tenon::api::AllGiven({{"graph", graph}}, status) ||
      !tenon::api::IsBytes("proto", proto, proto_len, status))
    return;
  absl::MutexLock lock(&graph->mutex);
  tenon::StatusToC(
      tenon::api::SetHandleData(*graph, output, {static_cast<const char*>(proto), proto_len}),
      status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
