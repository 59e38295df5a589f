// Sets fields of TensorFlow's OpDef message (pb::OpDef) that Tenon's OpDef (op_def.h) lacks.
// Private to graph/op_defs/.
#pragma once

#include "proto/op_def.pb.h"

namespace tenon {

// Sets the full type of the op's first result, and whether the op exchanges data with other tasks,
// as TensorFlow has them for the op of this name. Sets no full type where TensorFlow has none. `op`
// must have its name, arguments and attributes.
void AddWhatTensorFlowHas(pb::OpDef& op);

}  // namespace tenon
