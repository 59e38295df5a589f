#include "executor/api/graph/node_checks.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/api/base/attr_checks.h"
#include "executor/api/base/op_text.h"
#include "executor/api/graph/call_shapes.h"
#include "executor/api/graph/fed_handles.h"
#include "executor/api/graph/known_inputs.h"
#include "executor/api/graph/shape_errors.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/open_types.h"
#include "graph/shapes/common_shapes.h"

namespace tenon::api {
namespace {

std::string TextOfNode(const Graph& graph, NodeId n) {
  return absl::StrCat("; NodeDef: ", NodeNameText(graph.name(n)));
}

absl::Status CheckGivenAttrs(const Graph& graph, NodeId n) {
  const OpDef& op = *graph.op(n);
  for (const Attr& a : graph.attrs(n).all()) {
    // Names with '_' in front are notes that any node may have; newer producers write attributes
    // that this version of the op does not know. The attributes of a call fill placeholders in.
    const AttrDef* def = absl::StartsWith(a.name, "_") ? nullptr : op.FindAttr(a.name);
    if (def == nullptr || a.value.kind() == AttrKind::kPlaceholder) continue;
    const absl::Status status = CheckAttr(*def, a.value);
    if (!status.ok())
      return Annotate(status, "", absl::StrCat("\n\t", TextOfNode(graph, n), "; ", OpText(op)));
  }
  return absl::OkStatus();
}

absl::Status CheckMissingAttrs(const Graph& graph, NodeId n) {
  const OpDef& op = *graph.op(n);
  std::vector<std::string_view> missing;
  for (const AttrDef& def : op.attrs) {
    if (!def.has_default && graph.attrs(n).Find(def.name) == nullptr) missing.push_back(def.name);
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("NodeDef missing attr", missing.size() == 1 ? " '" : "s '",
                   absl::StrJoin(missing, "', '"), "' from ", OpText(op), TextOfNode(graph, n)));
}

absl::Status CheckInputCount(const Graph& graph, NodeId n) {
  const TypeVector& wanted = graph.kind(n).types.inputs;
  if (wanted.size() == static_cast<size_t>(graph.num_inputs(n))) return absl::OkStatus();
  const std::string types =
      absl::StrJoin(wanted, ", ", [](std::string* out, DataType t) { out->append(TypeText(t)); });
  return absl::InvalidArgumentError(
      absl::StrCat("NodeDef expected inputs '", types, "' do not match ", graph.num_inputs(n),
                   " inputs specified; ", OpText(*graph.op(n)), TextOfNode(graph, n)));
}

// The shapes of a call follow from the function.
absl::Status CheckShapeFn(const Graph& graph, NodeId n) {
  if (graph.op(n)->shape_fn || graph.FindFunction(graph.op_name(n)) != nullptr)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("No shape inference function exists for op '",
                                                 graph.op_name(n),
                                                 "', did you forget to define it?"));
}

bool WasChecked(const TF_Graph& graph, const NodeKind& kind)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex) {
  return kind.index < graph.checked_kinds.size() && graph.checked_kinds[kind.index];
}

}  // namespace

absl::Status CheckKindOf(TF_Graph& graph, NodeId n, int producer) {
  const NodeKind& kind = graph.graph.kind(n);
  if (!WasChecked(graph, kind)) {
    TENON_RETURN_IF_ERROR(CheckGivenAttrs(graph.graph, n));
    TENON_RETURN_IF_ERROR(CheckMissingAttrs(graph.graph, n));
    if (!kind.types_status.ok() && !ResolveOpenTypes(*kind.op, kind.attrs).ok())
      return kind.types_status;
    if (kind.index >= graph.checked_kinds.size())
      graph.checked_kinds.resize(std::max<size_t>(kind.index + 1, graph.checked_kinds.size() * 2));
    graph.checked_kinds[kind.index] = true;
  }
  TENON_RETURN_IF_ERROR(CheckInputCount(graph.graph, n));
  return CheckDeprecation(*kind.op, producer);
}

absl::Status InferNewNode(TF_Graph& graph) {
  KnowShapes(graph, graph.graph.num_node_ids() - 1);
  ShapeOptions options;
  options.late_constants = true;
  options.describe = [&graph](NodeId node, const InferenceContext& context,
                              const absl::Status& status) {
    return DescribeShapeError(graph.graph, node, context, status);
  };
  TENON_RETURN_IF_ERROR(graph.shapes.Append(graph.graph, options));
  TENON_RETURN_IF_ERROR(CheckFedHandles(graph, graph.graph.num_node_ids() - 1));
  TENON_RETURN_IF_ERROR(CheckKnownInputs(graph, graph.graph.num_node_ids() - 1));
  return InferCall(graph, graph.graph.num_node_ids() - 1);
}

absl::Status CheckNewNode(TF_Graph& graph, NodeId n) {
  absl::Status status = CheckKindOf(graph, n, graph.graph.producer());
  if (status.ok() && graph.require_shape_fns) status = CheckShapeFn(graph.graph, n);
  return status.ok() ? InferNewNode(graph) : status;
}

absl::Status MergeShape(TF_Graph& graph, Output output, const PartialShape& shape) {
  // First of all, since consumers are not to see the merged shape.
  KnowShapes(graph, graph.graph.num_node_ids());
  return MergeKnownShape(graph, output, shape);
}

absl::Status MergeKnownShape(TF_Graph& graph, Output output, const PartialShape& shape) {
  TensorInfo info = graph.shapes.info(output);
  TENON_ASSIGN_OR_RETURN(info.shape, ops::MergeShapes(info.shape, shape));
  graph.shapes.Set(output, std::move(info));
  return absl::OkStatus();
}

}  // namespace tenon::api
