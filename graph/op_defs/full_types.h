// What TensorFlow's OpDefs say of ops beside what OpDef has. Private to graph/op_defs/.
#pragma once

#include "proto/op_def.pb.h"

namespace tenon {

// Adds to the OpDef, which has its name, arguments and attributes, what TensorFlow's OpDef of that
// op has besides: the full type of its first result, and whether it exchanges data with other
// tasks. Adds nothing for ops that have neither.
void AddWhatTensorFlowHas(pb::OpDef& op);

}  // namespace tenon
