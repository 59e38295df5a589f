// Which nodes may stand at the end of a group of elementwise nodes (ops/fused.cc).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "element_node.h"
#include "graph_def.h"

namespace opencl {

// A node that goes on with what a group computes, which is its input 0.
struct GroupEnd {
  const char* op = "_OpenCLFused";  // that computes both
  std::string end;                  // its attributes
  float epsilon = 0;
  size_t inputs = 0;  // of the node, from input 1 on, that the new node has, too
  TF_DataType type = TF_FLOAT;
};

// Nothing for a node that is no end. `elements`: the shape of input 0. `constant_of`: the node
// behind an input, or NULL.
std::optional<GroupEnd> GroupEndOf(
    const NodeView& node, const NodeShape& elements,
    const std::function<const NodeView*(std::string_view input)>& constant_of);

}  // namespace opencl
