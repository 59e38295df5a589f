// Types of nodes whose attributes have placeholders.
#pragma once

#include "absl/status/statusor.h"
#include "graph/op_defs/op_def.h"

namespace tenon {

// ResolveTypes (op_def.h), but a type that is a placeholder is kInvalid, and a list of types that
// is one is empty: a call of the function that has the node fills them in. The number of an
// argument must be known.
absl::StatusOr<NodeTypes> ResolveOpenTypes(const OpDef& op, const AttrSet& attrs);

}  // namespace tenon
