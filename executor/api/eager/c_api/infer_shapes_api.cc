// The functions of c_api_experimental.h on lists of shapes, and TFE_InferShapes, which runs a shape
// function without a graph.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/api/base/arguments.h"
#include "executor/api/eager/eager_op.h"
#include "executor/api/graph/shape_errors.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/without_memory.h"
#include "graph/shapes/shape_inference.h"
#include "tensorflow/c/c_api_experimental.h"

namespace tenon::eager {
namespace {

TF_ShapeAndType* ItemOf(TF_ShapeAndTypeList* list, int index) {
  return list == nullptr || index < 0 || index >= list->num_items ? nullptr : &list->items[index];
}

void SetShape(TF_ShapeAndType& item, const PartialShape& shape) {
  delete[] item.dims;
  item.dims = nullptr;
  item.num_dims = shape.known_rank() ? shape.rank() : -1;
  if (item.num_dims <= 0) return;
  item.dims = new int64_t[item.num_dims];
  std::copy(shape.dims().begin(), shape.dims().end(), item.dims);
}

// The types of the op's inputs and outputs; unknown ones, as many as the op has arguments, where
// attributes are missing.
NodeTypes TypesOf(const OpDef& def, const AttrSet& attrs) {
  absl::StatusOr<NodeTypes> types = ResolveTypes(def, attrs);
  if (types.ok()) return *std::move(types);
  NodeTypes unknown;
  unknown.inputs.resize(def.inputs.size());
  unknown.outputs.resize(def.outputs.size());
  return unknown;
}

absl::StatusOr<std::vector<TensorInfo>> InputInfos(const TF_ShapeAndTypeList& shapes,
                                                   TF_Tensor* const* tensors) {
  std::vector<TensorInfo> infos(shapes.num_items);
  for (int i = 0; i < shapes.num_items; ++i) {
    const TF_ShapeAndType& item = shapes.items[i];
    if (item.num_dims >= 0) {
      TENON_ASSIGN_OR_RETURN(infos[i].shape,
                             PartialShape::Make(absl::MakeConstSpan(item.dims, item.num_dims)));
    }
    const TF_Tensor* const tensor = tensors == nullptr ? nullptr : tensors[i];
    if (tensor == nullptr || tensor->is_deleted() || tensor->buffer == nullptr) continue;
    infos[i].value = std::make_shared<const Tensor>(tensor->value());
  }
  return infos;
}

// A graph of the op alone, for the text of an error.
absl::StatusOr<Graph> GraphOf(const OpDef& def, NewAttrs attrs, size_t inputs) {
  Graph graph;
  TENON_ASSIGN_OR_RETURN(const NodeId dummy, graph.AddNode("dummy_input", "Placeholder", {}, {}));
  const std::vector<Output> from(inputs, Output{dummy, 0});
  TENON_RETURN_IF_ERROR(graph.AddNode(def.name, def.name, from, std::move(attrs)).status());
  return graph;
}

absl::StatusOr<TF_ShapeAndTypeList*> InferShapes(const TFE_Op& op,
                                                 const TF_ShapeAndTypeList& shapes,
                                                 TF_Tensor* const* tensors) {
  const OpDef& def = *op.entry->def;
  TENON_ASSIGN_OR_RETURN(std::vector<TensorInfo> infos, InputInfos(shapes, tensors));
  TENON_ASSIGN_OR_RETURN(const Graph graph, GraphOf(def, op.attrs.All(), infos.size()));
  const NodeId node = graph.num_node_ids() - 1;
  const NodeTypes types = TypesOf(def, graph.attrs(node));
  if (infos.size() != types.inputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat("Wrong number of inputs passed: ", infos.size(),
                                                   " while ", types.inputs.size(),
                                                   " expected based on NodeDef"));
  }
  InferenceContext::Infos inputs;
  for (const TensorInfo& info : infos) inputs.push_back(&info);
  InferenceContext context(def, graph.attrs(node), types, std::move(inputs));
  const absl::Status inferred = CallShapeFn(context);
  if (!inferred.ok()) return api::DescribeShapeError(graph, node, context, inferred);
  TF_ShapeAndTypeList* const list = TF_NewShapeAndTypeList(context.num_outputs());
  if (list == nullptr) return OutOfMemory();
  for (int i = 0; i < context.num_outputs(); ++i) SetShape(list->items[i], context.output(i).shape);
  return list;
}

}  // namespace
}  // namespace tenon::eager

using tenon::eager::ItemOf;

extern "C" {

TF_ShapeAndTypeList* TF_NewShapeAndTypeList(int num_shapes) try {
  if (!tenon::api::IsCount(num_shapes)) return nullptr;
  return new TF_ShapeAndTypeList{num_shapes, new TF_ShapeAndType[num_shapes]()};
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_ShapeAndTypeListSetShape(TF_ShapeAndTypeList* shape_list, int index, const int64_t* dims,
                                 int num_dims) try {
  TF_ShapeAndType* const item = ItemOf(shape_list, index);
  if (item == nullptr || num_dims > tenon::kMaxRank || (num_dims > 0 && dims == nullptr)) return;
  int64_t* const room = num_dims > 0 ? new int64_t[num_dims] : nullptr;
  delete[] std::exchange(item->dims, room);
  item->num_dims = std::max(num_dims, -1);
  if (num_dims > 0) std::copy_n(dims, num_dims, item->dims);
} catch (...) {
  tenon::WithoutMemory();
}

void TF_ShapeAndTypeListSetUnknownShape(TF_ShapeAndTypeList* shape_list, int index) {
  TF_ShapeAndTypeListSetShape(shape_list, index, nullptr, -1);
}

void TF_ShapeAndTypeListSetDtype(TF_ShapeAndTypeList* shape_list, int index, TF_DataType dtype) {
  if (TF_ShapeAndType* const item = ItemOf(shape_list, index)) item->dtype = dtype;
}

void TF_DeleteShapeAndTypeList(TF_ShapeAndTypeList* shape_list) {
  if (shape_list == nullptr) return;
  for (int i = 0; i < shape_list->num_items; ++i) delete[] shape_list->items[i].dims;
  delete[] shape_list->items;
  delete shape_list;
}

void TF_DeleteShapeAndTypeListArray(TF_ShapeAndTypeList** shape_list_array, int num_items) {
  if (shape_list_array == nullptr || !tenon::api::IsCount(num_items)) return;
  for (int i = 0; i < num_items; ++i) TF_DeleteShapeAndTypeList(shape_list_array[i]);
  delete[] shape_list_array;
}

void TFE_InferShapes(TFE_Op* op, TF_ShapeAndTypeList* input_shapes, TF_Tensor** input_tensors,
                     TF_ShapeAndTypeList*, TF_ShapeAndTypeList**,
                     TF_ShapeAndTypeList** output_shapes, TF_ShapeAndTypeList***,
                     TF_Status* status) try {
  if (!tenon::api::AllGiven(
          {{"op", op}, {"input_shapes", input_shapes}, {"output_shapes", output_shapes}}, status))
    return;
  *output_shapes = nullptr;
  absl::Status given = tenon::eager::CheckOp(op);
  const absl::StatusOr<TF_ShapeAndTypeList*> shapes =
      given.ok() ? tenon::eager::InferShapes(*op, *input_shapes, input_tensors) : given;
  tenon::StatusToC(shapes.status(), status);
  *output_shapes = shapes.value_or(nullptr);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
