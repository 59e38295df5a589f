// Makes a shape function of a plug-in's op one that the host can call.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "graph/op_defs/op_def.h"
#include "tensorflow/c/ops.h"

namespace tenon {

// The shape function of an OpDef. Thread-safe as far as the plug-in's function is.
struct PluginShapeFn {
  void (*fn)(TF_ShapeInferenceContext*, TF_Status*);
  std::string plugin;  // path of the plug-in; empty: the op was registered outside of a load
  // Calls `fn` for one node. INVALID_ARGUMENT means that the plug-in refuses the node. Any other
  // error, and an exception, is a fault of the plug-in (IsPluginFault).
  absl::Status operator()(InferenceContext& context) const;
};

// Whether the op's shape function is a plug-in's.
inline bool HasPluginShapeFn(const OpDef& op) {
  return op.shape_fn.target<PluginShapeFn>() != nullptr;
}

}  // namespace tenon
