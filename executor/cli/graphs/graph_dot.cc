#include "executor/cli/graphs/graph_dot.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tenon::cli {
namespace {

std::string Label(std::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", " "}});
}

}  // namespace

// Written by hand: Boost's writer flushes each line and knows no removed nodes.
std::string GraphDot(const Graph& graph) {
  std::string dot = "digraph graph_ {\n  node [shape=box, style=rounded];\n";
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    absl::StrAppend(&dot, "  n", n, " [label=\"", Label(graph.name(n)), "\\n",
                    Label(graph.op_name(n)), "\", tooltip=\"", Label(graph.device(n)), "\"];\n");
    for (const Output& in : graph.inputs(n)) {
      if (in.node == kNoNode) continue;
      absl::StrAppend(&dot, "  n", in.node, " -> n", n);
      if (in.is_control()) absl::StrAppend(&dot, " [style=dashed]");
      if (in.port > 0) absl::StrAppend(&dot, " [taillabel=\"", in.port, "\"]");
      dot += ";\n";
    }
  }
  return dot + "}\n";
}

}  // namespace tenon::cli
