// Lists of attributes for nodes that are made, or become something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

using NewAttrs = std::vector<Graph::NewAttr>;

NewAttrs CopyOf(absl::Span<const Attr> attrs);

// What node n says of itself: all of it; without what belongs to the node whatever its op is, under
// names that begin with '_'.
NewAttrs AllAttrs(const Graph& g, NodeId n);
NewAttrs OpAttrs(const Graph& g, NodeId n);

// What TensorFlow notes of a node's inputs and outputs by their numbers: hints that may be missing,
// but not wrong.
inline constexpr std::string_view kOutputShapesAttr = "_output_shapes";
bool NumbersInputsOrOutputs(std::string_view attr);

// Gives the attribute this value, whether it is in the list or not.
void PutAttr(NewAttrs& attrs, std::string_view name, std::string wire);

// Of a Const. Errors are those of TensorToWire.
absl::StatusOr<NewAttrs> ConstAttrs(const Tensor& value);

}  // namespace tenon
