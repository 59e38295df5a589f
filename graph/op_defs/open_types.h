// Types of nodes whose attributes have placeholders.
#pragma once

#include "absl/status/statusor.h"
#include "graph/op_defs/op_def.h"

namespace tenon {

// ResolveTypes (op_def.h), but the type is kInvalid where an attribute holds a placeholder instead
// of a type, and the list is empty where it holds one instead of a list of types. A call of the
// function that has the node fills placeholders in. The number of an argument's tensors must be
// known: a placeholder there is an error, as in ResolveTypes. Other errors are those of
// ResolveTypes.
absl::StatusOr<NodeTypes> ResolveOpenTypes(const OpDef& op, const AttrSet& attrs);

}  // namespace tenon
