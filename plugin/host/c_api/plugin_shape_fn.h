// A shape function that a plug-in brings.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "graph/op_defs/op_def.h"
#include "tensorflow/c/ops.h"

namespace tenon {

// As an op has it.
struct PluginShapeFn {
  void (*fn)(TF_ShapeInferenceContext*, TF_Status*);
  std::string plugin;  // path; empty: not of a library that was loaded
  // What it says of the node is INVALID_ARGUMENT; anything else is a fault of the plug-in.
  absl::Status operator()(InferenceContext& context) const;
};

inline bool HasPluginShapeFn(const OpDef& op) {
  return op.shape_fn.target<PluginShapeFn>() != nullptr;
}

}  // namespace tenon
