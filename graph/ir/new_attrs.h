// Makes lists of attributes for new nodes and for nodes that get another op.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

using NewAttrs = std::vector<Graph::NewAttr>;

// Names in a list are views: their bytes must live until the list is used. CopyOf copies the values
// alone.
NewAttrs CopyOf(absl::Span<const Attr> attrs);

// AllAttrs: all attributes that node n itself has, without the OpDef's defaults. OpAttrs: the same
// without attributes whose names begin with '_'. Those belong to the node, whatever its op is.
NewAttrs AllAttrs(const Graph& g, NodeId n);
NewAttrs OpAttrs(const Graph& g, NodeId n);

// A note of TensorFlow: the shapes of a node's outputs.
inline constexpr std::string_view kOutputShapesAttr = "_output_shapes";
// Whether the attribute describes inputs or outputs of a node by their numbers, as _output_shapes
// does. Such attributes are hints: a missing one is fine, a wrong one is not. Whoever changes the
// inputs or outputs of a node removes these attributes from the node.
bool NumbersInputsOrOutputs(std::string_view attr);

// Sets the attribute to the AttrValue bytes `wire`; adds it if the list lacks it.
void PutAttr(NewAttrs& attrs, std::string_view name, std::string wire);

// The attributes of a Const of this value. Errors are those of TensorToWire.
absl::StatusOr<NewAttrs> ConstAttrs(const Tensor& value);

}  // namespace tenon
