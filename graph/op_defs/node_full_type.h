// The full types that TensorFlow notes in nodes.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_def.h"

namespace tenon {

// What TensorFlow writes to the field experimental_type of a NodeDef when it adds the node: a
// product of the full types of the op's results, with the types that the attributes give.
// FullTypeDef bytes; empty where TensorFlow writes nothing. `attrs` are the attributes of the node
// with the OpDef's defaults.
std::string NodeFullType(const OpDef& op, absl::Span<const Attr> attrs);

}  // namespace tenon
