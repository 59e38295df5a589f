// The definitions of the types that a plug-in's shape function sees as opaque.
#pragma once

#include "graph/c_api/handles.h"
#include "graph/shapes/shape_inference.h"
#include "graph/tensor/shape.h"
#include "tensorflow/c/ops.h"

// One call of a shape function. Lives as long as the call; `context` is the host's.
struct TF_ShapeInferenceContext {
  tenon::InferenceContext* context = nullptr;
};

// A shape. A handle of TF_NewShapeHandle is a shape of unknown rank. The plug-in deletes its
// handles.
struct TF_ShapeHandle {
  using Pool = tenon::Handles<TF_ShapeHandle>;
  tenon::PartialShape shape;
};

// A dimension. A new handle is a dimension of unknown size. The plug-in deletes its
// handles.
struct TF_DimensionHandle {
  using Pool = tenon::Handles<TF_DimensionHandle>;
  int64_t size = tenon::kUnknownDim;
};
