// What stands behind the cells and the context of a shape function written in C.
#pragma once

#include "graph/shapes/shape_inference.h"
#include "graph/tensor/shape.h"
#include "tensorflow/c/ops.h"

struct TF_ShapeInferenceContext {
  tenon::InferenceContext* context = nullptr;
};

// An empty cell counts as a shape of unknown rank, as a dimension of unknown size.
struct TF_ShapeHandle {
  tenon::PartialShape shape;
};

struct TF_DimensionHandle {
  int64_t size = tenon::kUnknownDim;
};
