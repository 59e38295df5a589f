#include "graph/ir/nodes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/annotate.h"
#include "graph/base/node_note.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"

namespace tenon {

bool IsPlaceholder(const Graph& graph, NodeId n) { return graph.facts(n).placeholder; }

bool MustStay(const Graph& graph, NodeId n) {
  const AttrValue* mark = graph.attrs(n).Find("_grappler_do_not_remove");
  return mark != nullptr && mark->AsBool().value_or(false);
}

bool IsFunctional(const Graph& graph, NodeId n) {
  return graph.facts(n).calls != CallKind::kNone || graph.FindFunction(graph.op_name(n)) != nullptr;
}

bool IsFunctional(const Graph& graph, std::string_view op) {
  return OpRegistry::Global().Facts(op).calls != CallKind::kNone ||
         graph.FindFunction(op) != nullptr;
}

NodeId NodeOfOutput(const Graph& graph, std::string_view text) {
  absl::ConsumePrefix(&text, "^");
  const NodeId n = graph.FindNode(text);
  return n != kNoNode ? n : graph.FindNode(text.substr(0, text.rfind(':')));
}

std::vector<NodeId> NodesOfOutputs(const Graph& graph, absl::Span<const std::string> texts) {
  std::vector<NodeId> nodes;
  for (const std::string& text : texts) {
    if (const NodeId n = NodeOfOutput(graph, text); n != kNoNode) nodes.push_back(n);
  }
  return nodes;
}

std::string UnknownOpText(std::string_view op, bool hint) {
  const std::string_view closest = hint ? OpRegistry::Global().Closest(op) : "";
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
  return Annotate(NoteNode(status, graph.name(n)),
                  absl::StrCat(in_file ? absl::StrCat(graph.Locate(n), ": ") : "", "node '",
                               graph.name(n), "' (", graph.op_name(n), "): "));
}

}  // namespace tenon
