// Which nodes may become statements of a program (ops/fused_program.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../base/dims.h"
#include "graph_def.h"

namespace opencl {

// A node as a statement without its operands.
struct ElementNode {
  std::string head;                   // "Relu", "LeakyRelu[0.2]", "Cast<float>"
  std::vector<TF_DataType> operands;  // their types, in the order of the node's inputs
};

// -1 for an unknown dimension, nothing for an unknown rank.
using NodeShape = std::optional<Dims>;

// The shape behind an input of a node.
using ShapeOfInput = std::function<NodeShape(std::string_view input)>;

// Nothing for a node that may be no statement: an op that no program has, control inputs, a setting
// that a program cannot express, or an op that checks shapes where these are not known to fit.
std::optional<ElementNode> ElementNodeOf(const NodeView& node, const ShapeOfInput& shape_of);

// The node as a constant of a program, such as "0.5:float". Nothing for a node that is no scalar
// Const of a type that has such constants, is not finite, or has control inputs. Nothing, too,
// where the TensorProto leaves the number out, as it may for 0.
std::optional<std::string> ConstantText(const NodeView& node);

}  // namespace opencl
