// The functions of c_api.h that ask a graph for operations, ops, shapes and its bytes.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/graph/node_checks.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/without_memory.h"
#include "graph/io/io.h"
#include "graph/op_defs/op_registry.h"
#include "graph/wire/wire.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

// TensorFlow's graphs have two nodes of their own in front, which positions count.
constexpr size_t kHiddenOperations = 2;

constexpr uint32_t kSignatureField = 1;  // FunctionDef.signature

// A function's signature is given as the function has it, with its descriptions.
std::string OpDefBytes(const Graph& graph, const OpDef& op) {
  const FunctionEntry* function = graph.FindFunction(op.name);
  if (function == nullptr) return OpDefToWire(op);
  std::string signature;
  WireReader reader(function->wire);
  WireField f;
  // Parts of a message that stands in parts are merged, as their bytes are one behind the other.
  while (reader.Next(&f)) {
    if (f.number == kSignatureField && f.type == WireType::kBytes) signature.append(f.bytes);
  }
  return signature;
}

// `num_dims` -1 is an unknown rank.
absl::Status MergeGivenShape(TF_Graph& graph, TF_Output output, const int64_t* dims, int num_dims)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  const absl::StatusOr<Output> out = OutputOf(graph, output);
  if (absl::IsOutOfRange(out.status())) {
    const NodeId n = output.oper->node;
    return absl::InvalidArgumentError(
        absl::StrCat("output_port '", output.index, "' is out of range, node '",
                     graph.graph.name(n), "' has ", graph.graph.num_outputs(n), " outputs"));
  }
  TENON_RETURN_IF_ERROR(out.status());
  PartialShape given;
  if (num_dims >= 0) {
    TENON_ASSIGN_OR_RETURN(given, PartialShape::Make(absl::MakeConstSpan(dims, num_dims)));
  }
  return MergeShape(graph, *out, given);
}

absl::StatusOr<PartialShape> ShapeOfOutput(TF_Graph& graph, TF_Output output)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  TENON_ASSIGN_OR_RETURN(const Output out, OutputOf(graph, output));
  KnowShapes(graph, graph.graph.num_node_ids());
  return graph.shapes.shape(out);
}

absl::Status ReadShape(TF_Graph& graph, TF_Output output, int64_t* dims, int num_dims)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, ShapeOfOutput(graph, output));
  if (num_dims != shape.rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expected rank is ", num_dims, " but actual rank is ", shape.rank()));
  }
  if (num_dims > 0 && dims == nullptr) return absl::InvalidArgumentError("argument 'dims' is NULL");
  std::copy(shape.dims().begin(), shape.dims().end(), dims);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon::api

using tenon::IsThere;
using tenon::StatusToC;
using tenon::api::AllGiven;
using tenon::api::kHiddenOperations;

extern "C" {

TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* oper_name) try {
  if (!IsThere(graph) || oper_name == nullptr) return nullptr;
  absl::MutexLock lock(&graph->mutex);
  const tenon::NodeId n = graph->graph.FindNode(oper_name);
  return n == tenon::kNoNode ? nullptr : &graph->operations[n];
} catch (...) {
  return tenon::WithoutMemory();
}

TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos) {
  if (!IsThere(graph) || pos == nullptr) return nullptr;
  absl::MutexLock lock(&graph->mutex);
  // Gradients leave gaps where nodes turned out to be of no use.
  for (*pos = std::max(*pos + 1, kHiddenOperations);; ++*pos) {
    const size_t n = *pos - kHiddenOperations;
    if (n >= graph->operations.size()) return nullptr;
    if (graph->graph.alive(static_cast<tenon::NodeId>(n))) return &graph->operations[n];
  }
}

void TF_GraphToGraphDef(TF_Graph* graph, TF_Buffer* output_graph_def, TF_Status* status) try {
  if (!AllGiven({{"graph", graph}, {"output_graph_def", output_graph_def}}, status)) return;
  absl::ReaderMutexLock lock(&graph->mutex);
  StatusToC(tenon::FillBuffer(tenon::ExportWithDefaults(graph->graph), output_graph_def), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GraphGetOpDef(TF_Graph* graph, const char* op_name, TF_Buffer* output_op_def,
                      TF_Status* status) try {
  if (!AllGiven({{"graph", graph}, {"op_name", op_name}, {"output_op_def", output_op_def}}, status))
    return;
  absl::ReaderMutexLock lock(&graph->mutex);
  const tenon::OpDef* op = graph->graph.FindOp(op_name);
  StatusToC(op == nullptr
                ? tenon::OpNotRegistered(op_name)
                : tenon::FillBuffer(tenon::api::OpDefBytes(graph->graph, *op), output_op_def),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GraphVersions(TF_Graph* graph, TF_Buffer* output_version_def, TF_Status* status) try {
  if (!AllGiven({{"graph", graph}, {"output_version_def", output_version_def}}, status)) return;
  absl::ReaderMutexLock lock(&graph->mutex);
  StatusToC(tenon::FillBuffer(graph->graph.versions_wire(), output_version_def), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_GraphSetTensorShape(TF_Graph* graph, TF_Output output, const int64_t* dims,
                            const int num_dims, TF_Status* status) try {
  if (!AllGiven({{"graph", graph}}, status) ||
      !tenon::api::IsArray("dims", dims, std::max(num_dims, 0), status))
    return;
  absl::MutexLock lock(&graph->mutex);
  StatusToC(tenon::api::MergeGivenShape(*graph, output, dims, num_dims), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output, TF_Status* status) try {
  if (!AllGiven({{"graph", graph}}, status)) return -1;
  absl::MutexLock lock(&graph->mutex);
  const absl::StatusOr<tenon::PartialShape> shape = tenon::api::ShapeOfOutput(*graph, output);
  StatusToC(shape.status(), status);
  return shape.ok() ? shape->rank() : -1;
} catch (...) {
  tenon::WithoutMemory(status);
  return -1;
}

void TF_GraphGetTensorShape(TF_Graph* graph, TF_Output output, int64_t* dims, int num_dims,
                            TF_Status* status) try {
  if (!AllGiven({{"graph", graph}}, status)) return;
  absl::MutexLock lock(&graph->mutex);
  StatusToC(tenon::api::ReadShape(*graph, output, dims, num_dims), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
