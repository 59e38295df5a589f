#include "graph/nodes.h"

#include "absl/strings/str_cat.h"

namespace tenon {

bool IsPlaceholder(const Graph& graph, NodeId n) {
  const std::string_view op = graph.op_name(n);
  return op == "Placeholder" || op == "PlaceholderV2";
}

bool IsSwitchOp(std::string_view op) {
  return op == "Switch" || op == "RefSwitch" || op == "_SwitchN";
}
bool IsMergeOp(std::string_view op) { return op == "Merge" || op == "RefMerge"; }
bool IsEnterOp(std::string_view op) { return op == "Enter" || op == "RefEnter"; }
bool IsExitOp(std::string_view op) { return op == "Exit" || op == "RefExit"; }
bool IsNextIterationOp(std::string_view op) {
  return op == "NextIteration" || op == "RefNextIteration";
}
bool IsControlFlowOp(std::string_view op) {
  return IsSwitchOp(op) || IsMergeOp(op) || IsEnterOp(op) || IsExitOp(op) ||
         IsNextIterationOp(op) || op == "LoopCond";
}

absl::Status NodeError(const Graph& graph, NodeId n, const absl::Status& status) {
  if (n == kNoNode) return status;
  return absl::Status(status.code(), absl::StrCat(graph.Locate(n), ": node '", graph.name(n), "' (",
                                                  graph.op_name(n), "): ", status.message()));
}

}  // namespace tenon
