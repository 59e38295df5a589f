#include "graph/nodes.h"

#include "absl/strings/str_cat.h"

namespace tenon {

bool IsPlaceholder(const Graph& graph, NodeId n) {
  const std::string_view op = graph.op_name(n);
  return op == "Placeholder" || op == "PlaceholderV2";
}

absl::Status NodeError(const Graph& graph, NodeId n, const absl::Status& status) {
  if (n == kNoNode) return status;
  return absl::Status(status.code(), absl::StrCat(graph.Locate(n), ": node '", graph.name(n), "' (",
                                                  graph.op_name(n), "): ", status.message()));
}

}  // namespace tenon
