#include "executor/cli/graphs/graph_dot.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "executor/values/tensor_text.h"

namespace tenon::cli {
namespace {

std::string Label(std::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", " "}});
}

std::string TensorText(const Graph& graph, const GraphShapes& shapes, Output o) {
  if (graph.op(o.node) == nullptr) return "";  // nothing is known of an unknown op's outputs
  return TypeText(graph.output_type(o), shapes.shape(o));
}

}  // namespace

std::vector<bool> ConstantsInside(const Graph& graph) {
  std::vector<bool> inside(graph.num_node_ids(), false), read(graph.num_node_ids(), false),
      read_by_control(graph.num_node_ids(), false);
  for (NodeId n = 0; n < graph.num_node_ids(); ++n)
    inside[n] = graph.alive(n) && graph.op_name(n) == "Const" && graph.inputs(n).empty();
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    for (const Output& in : graph.inputs(n)) {
      if (in.node == kNoNode) continue;
      read[in.node] = true;
      if (!in.is_control()) continue;
      inside[in.node] = false;
      read_by_control[in.node] = true;
    }
  }
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) inside[n] = inside[n] && read[n];
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || graph.op_name(n) != "Identity" || graph.num_inputs(n) != 1) continue;
    const Output in = graph.inputs(n)[0];
    if (graph.inputs(n).size() == 1 && in.node != kNoNode && !in.is_control() && inside[in.node] &&
        read[n] && !read_by_control[n])
      inside[n] = true;
  }
  return inside;
}

// Written by hand: Boost's writer flushes each line and knows no removed nodes.
std::string GraphDot(const Graph& graph, const GraphShapes* shapes) {
  std::vector<bool> inside(graph.num_node_ids(), false);
  if (shapes != nullptr) inside = ConstantsInside(graph);
  std::string dot = "digraph graph_ {\n  node [shape=box, style=rounded];\n  edge [fontsize=10];\n";
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || inside[n]) continue;
    std::string label = absl::StrCat(Label(graph.name(n)), "\\n", Label(graph.op_name(n)));
    const std::string device = Label(graph.device(n));
    if (shapes != nullptr && !device.empty()) absl::StrAppend(&label, "\\n", device);
    std::string edges;
    for (const Output& in : graph.inputs(n)) {
      if (in.node == kNoNode) continue;
      std::vector<std::string> style;
      if (in.is_control()) {
        style.push_back("style=dashed");
      } else if (shapes != nullptr) {
        const std::string type = Label(TensorText(graph, *shapes, in));
        if (inside[in.node]) {
          absl::StrAppend(&label, "\\n", Label(graph.name(in.node)), " ", type);
          continue;
        }
        style.push_back(absl::StrCat("label=\"", type, "\""));
      }
      if (in.port > 0) style.push_back(absl::StrCat("taillabel=\"", in.port, "\""));
      absl::StrAppend(&edges, "  n", in.node, " -> n", n);
      if (!style.empty()) absl::StrAppend(&edges, " [", absl::StrJoin(style, ", "), "]");
      edges += ";\n";
    }
    absl::StrAppend(&dot, "  n", n, " [label=\"", label, "\", tooltip=\"", device, "\"];\n", edges);
  }
  return dot + "}\n";
}

}  // namespace tenon::cli
