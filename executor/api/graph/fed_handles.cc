#include "executor/api/graph/fed_handles.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/api/graph/shape_errors.h"

namespace tenon::api {
namespace {

bool ReadsSparseMatrices(std::string_view op) {
  return absl::StartsWith(op, "CSRSparseMatrix") || absl::StartsWith(op, "SparseMatrix");
}

// The input that says the shape of a list's elements; -1: none does.
int ElementShapeInput(const OpDef& op) {
  if (!absl::StrContains(op.name, "TensorList") && op.name != "RaggedTensorToVariantGradient")
    return -1;
  if (op.name == "TensorListPopBack") return -1;  // takes any scalar
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i].name == "element_shape" || op.inputs[i].name == "dense_values_shape")
      return static_cast<int>(i);
  }
  return -1;
}

// Few nodes read or make a variant or a resource.
bool HasHandles(const NodeTypes& types) {
  const auto is_handle = [](DataType t) {
    return t == DataType::kVariant || t == DataType::kResource;
  };
  return std::ranges::any_of(types.inputs, is_handle) ||
         std::ranges::any_of(types.outputs, is_handle);
}

// What there is to say of input i, which is a placeholder.
absl::Status CheckFedInput(const OpDef& op, DataType type, const TensorInfo& info, int i) {
  if (type == DataType::kVariant && ReadsSparseMatrices(op.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unable to access shape and type info from variant input ", i));
  }
  if (op.name == "ResourceCountUpTo" && info.handle_shape == nullptr)
    return absl::InvalidArgumentError("Handle has no shape/type information.");
  if (i == ElementShapeInput(op) && info.shape.rank() == 0) {
    return absl::InvalidArgumentError(
        "Received a shape scalar with unknown static value.  A static value of '-1' is required "
        "to represent an unknown shape.");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFedHandles(const TF_Graph& graph, NodeId n) {
  const Graph& nodes = graph.graph;
  const NodeTypes& types = nodes.kind(n).types;
  if (!HasHandles(types)) return absl::OkStatus();
  const OpDef& op = *nodes.op(n);
  for (int i = 0; i < nodes.num_inputs(n); ++i) {
    const Output from = nodes.inputs(n)[static_cast<size_t>(i)];
    if (nodes.op_name(from.node) != "Placeholder") continue;
    const absl::Status status =
        CheckFedInput(op, types.inputs[static_cast<size_t>(i)], graph.shapes.info(from), i);
    if (!status.ok()) return DescribeShapeError(graph, n, status);
  }
  return absl::OkStatus();
}

}  // namespace tenon::api
