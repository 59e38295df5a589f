#include "executor/cli/graphs/large_constants.h"

#include <string>
#include <vector>

#include "executor/cli/graphs/graph_text.h"
#include "graph/functions/function_library.h"
#include "graph/tensor/tensor_proto.h"
#include "proto/function.pb.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kConstantAttr = "_tenon_constant";

void Replace(Graph& graph, NodeId n) {
  const AttrValue* value = graph.attrs(n).Find("value");
  if (value == nullptr || value->wire().size() <= kLargeConstant) return;
  const absl::StatusOr<Tensor> tensor = graph.ConstValue(n);
  if (!tensor.ok()) return;  // a malformed constant stays, as the reader may be looking for it
  const std::string checksum = ChecksumText(*value->AsTensorWire());
  graph.BecomeOp(n, "Placeholder",
                 {{"dtype", attr::Type(tensor->dtype())},
                  {"shape", attr::Shape(PartialShape(tensor->shape()))},
                  {kConstantAttr, attr::String(checksum)}});
}

// Returns whether the node was such a constant.
bool Replace(pb::NodeDef& node) {
  const auto value = node.attr().find("value");
  if (node.op() != "Const" || value == node.attr().end() || !value->second.has_tensor())
    return false;
  const std::string wire = value->second.tensor().SerializeAsString();
  if (wire.size() <= kLargeConstant) return false;
  pb::AttrValue shape, checksum;
  *shape.mutable_shape() = value->second.tensor().tensor_shape();
  checksum.set_s(ChecksumText(wire));
  node.set_op("Placeholder");
  node.mutable_attr()->erase("value");
  (*node.mutable_attr())["shape"] = std::move(shape);
  (*node.mutable_attr())[std::string(kConstantAttr)] = std::move(checksum);
  return true;
}

}  // namespace

Graph WithoutLargeConstants(const Graph& graph) {
  Graph copy = graph;
  for (NodeId n = 0; n < copy.num_node_ids(); ++n) {
    if (copy.alive(n) && copy.op_name(n) == "Const") Replace(copy, n);
  }
  std::vector<std::string> functions;
  for (const FunctionEntry& function : FunctionsToWrite(graph)) {
    pb::FunctionDef def;
    if (function.wire.size() <= kLargeConstant ||
        !def.ParsePartialFromString(std::string(function.wire)))
      continue;
    bool changed = false;
    for (pb::NodeDef& node : *def.mutable_node_def()) changed |= Replace(node);
    if (changed) functions.push_back(def.SerializePartialAsString());
  }
  PutFunctions(copy, functions);
  return copy;
}

}  // namespace tenon::cli
