#include "graph/ir/nodes.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/annotate.h"
#include "graph/op_defs/op_registry.h"

namespace tenon {

bool IsPlaceholder(const Graph& graph, NodeId n) {
  const std::string_view op = graph.op_name(n);
  return op == "Placeholder" || op == "PlaceholderV2";
}

bool MustStay(const Graph& graph, NodeId n) {
  const AttrValue* mark = graph.attrs(n).Find("_grappler_do_not_remove");
  return mark != nullptr && mark->AsBool().value_or(false);
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

bool IsFunctional(const Graph& graph, NodeId n) { return IsFunctional(graph, graph.op_name(n)); }

bool IsFunctional(const Graph& graph, std::string_view op) {
  static const auto* const kOps =
      new absl::flat_hash_set<std::string_view>{"PartitionedCall",
                                                "StatefulPartitionedCall",
                                                "If",
                                                "_If",
                                                "StatelessIf",
                                                "Case",
                                                "StatelessCase",
                                                "While",
                                                "_While",
                                                "StatelessWhile",
                                                "For",
                                                "SymbolicGradient",
                                                "RemoteCall"};
  return kOps->contains(op) || graph.FindFunction(op) != nullptr;
}

NodeId NodeOfOutput(const Graph& graph, std::string_view text) {
  absl::ConsumePrefix(&text, "^");
  const NodeId n = graph.FindNode(text);
  return n != kNoNode ? n : graph.FindNode(text.substr(0, text.rfind(':')));
}

std::string UnknownOpText(std::string_view op) {
  const std::string_view closest = OpRegistry::Global().Closest(op);
  return absl::StrCat("no op and no function is named '", op, "'",
                      closest.empty() ? "" : absl::StrCat(" (did you mean '", closest, "'?)"));
}

absl::Status UnknownOpError(const Graph& graph, NodeId n) {
  return NodeError(graph, n, absl::UnimplementedError(UnknownOpText(graph.op_name(n))));
}

absl::Status NodeError(const Graph& graph, NodeId n, const absl::Status& status) {
  if (n == kNoNode) return status;
  // A node that a pass made has no place but its name.
  const SourcePos at = graph.pos(n);
  const bool in_file = at.line != 0 || at.offset != 0;
  return Annotate(status, absl::StrCat(in_file ? absl::StrCat(graph.Locate(n), ": ") : "", "node '",
                                       graph.name(n), "' (", graph.op_name(n), "): "));
}

}  // namespace tenon
