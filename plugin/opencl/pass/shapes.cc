#include "shapes.h"

#include "../device/status.h"
#include "graph_def.h"

namespace opencl {
namespace {

// Fields of OpInfo.TensorProperties, TensorShapeProto and TensorShapeProto.Dim.
constexpr int kShape = 2, kDim = 2, kUnknownRank = 3, kSize = 1;

int64_t SizeOf(std::string_view dim) {
  int64_t size = 0;
  FieldReader reader(dim);
  for (Field field; reader.Next(&field);) {
    if (field.number == kSize) size = static_cast<int64_t>(field.varint);
  }
  return size;
}

std::optional<Dims> ShapeOf(std::string_view properties) {
  std::optional<Dims> dims;
  FieldReader reader(properties);
  for (Field field; reader.Next(&field);) {
    if (field.number != kShape) continue;
    dims.emplace();
    FieldReader shape(field.content);
    for (Field part; shape.Next(&part);) {
      if (part.number == kUnknownRank && part.varint != 0) return std::nullopt;
      if (part.number == kDim) dims->push_back(SizeOf(part.content));
    }
  }
  return dims;
}

}  // namespace

InferredShapes::InferredShapes(const TF_GrapplerItem* item)
    : properties_(TF_NewGraphProperties(item)) {
  const StatusPtr status(TF_NewStatus());
  TF_InferStatically(properties_, /*assume_valid_feeds=*/1, /*aggressive_shape_inference=*/0,
                     /*include_input_tensor_values=*/0, /*include_output_tensor_values=*/0,
                     status.get());
  inferred_ = TF_GetCode(status.get()) == TF_OK;
}

InferredShapes::~InferredShapes() { TF_DeleteGraphProperties(properties_); }

std::optional<Dims> InferredShapes::Of(std::string_view node) const {
  if (!inferred_) return std::nullopt;
  const StatusPtr status(TF_NewStatus());
  BufferPtr owned(TF_NewBuffer());
  TF_Buffer* buffer = owned.get();
  TF_GetOutputPropertiesList(properties_, std::string(node).c_str(), &buffer, 1, status.get());
  if (TF_GetCode(status.get()) != TF_OK || buffer->data == nullptr) return std::nullopt;
  return ShapeOf({static_cast<const char*>(buffer->data), buffer->length});
}

}  // namespace opencl
