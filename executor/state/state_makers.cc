// Visits the nodes that some roots need and, once each, the bodies of the functions that they call.
// Nodes with one identity make or find one and the same state.

#include "executor/state/state_makers.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_library.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

ReachedNode InBody(std::string_view function, const std::shared_ptr<const FunctionBody>& body,
                   const BodyNode& node) {
  ReachedNode reached;
  reached.function = function;
  reached.body = body;
  reached.name = node.name;
  reached.op_name = node.op_name();
  reached.device = node.device;
  reached.op = node.op();
  reached.body_inputs = node.inputs;
  reached.attrs = node.attrs();
  return reached;
}

// The Const of the body from which this input comes; null if the input comes from another node.
const BodyNode* ConstOf(const FunctionBody& body, std::string_view input) {
  const std::string_view name = input.substr(0, input.find(':'));
  const auto it = std::find_if(body.nodes.begin(), body.nodes.end(),
                               [&](const BodyNode& node) { return node.name == name; });
  return it == body.nodes.end() || it->op_name() != "Const" ? nullptr : &*it;
}

// `scope` stands with its length: it may be any text, '|' included.
std::string IdentityText(std::string_view kind, std::string_view scope, std::string_view name) {
  return absl::StrCat(kind, "|", scope.size(), "|", scope, "|", name);
}

}  // namespace

ReachedNode ReachedInGraph(const Graph& graph, NodeId n) {
  ReachedNode reached;
  reached.node = n;
  reached.name = graph.name(n);
  reached.op_name = graph.op_name(n);
  reached.device = graph.device(n);
  reached.op = graph.op(n);
  reached.attrs = graph.attrs(n);
  return reached;
}

std::vector<bool> NeededBy(const Graph& graph, absl::Span<const NodeId> roots) {
  std::vector<bool> needed(graph.num_node_ids());
  std::vector<NodeId> open;
  const auto note = [&](NodeId n) {
    if (n == kNoNode || needed[n]) return;
    needed[n] = true;
    open.push_back(n);
  };
  for (const NodeId n : roots) note(n);
  while (!open.empty()) {
    const NodeId n = open.back();
    open.pop_back();
    for (const Output& from : graph.inputs(n)) note(from.node);
  }
  return needed;
}

std::string_view ReachedNode::TextAttr(std::string_view attr) const {
  const AttrValue* value = attrs.Find(attr);
  return value == nullptr ? std::string_view() : value->AsString().value_or("");
}

std::string ReachedNode::ToString() const {
  return absl::StrCat("node '", name, "' (", op_name, ")",
                      in_function() ? absl::StrCat(" of function '", function, "'") : "");
}

// A body counts as a whole, whichever of its results a call needs: a body may be called from many
// nodes, and is visited once for all of them. So a node that no call needs may be visited too.
void VisitReached(const Graph& graph, absl::Span<const NodeId> roots,
                  absl::FunctionRef<void(const ReachedNode&)> visit) {
  absl::flat_hash_set<std::string_view> seen;
  std::vector<const FunctionEntry*> open;
  const auto visit_node = [&](const ReachedNode& node) {
    visit(node);
    for (const std::string_view name : CalledBy(node.op_name, node.attrs)) {
      const FunctionEntry* function = graph.FindFunction(name);
      if (function != nullptr && seen.insert(function->name).second) open.push_back(function);
    }
  };
  const std::vector<bool> needed = NeededBy(graph, roots);
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (needed[n] && graph.alive(n)) visit_node(ReachedInGraph(graph, n));
  }
  while (!open.empty()) {
    const FunctionEntry& function = *open.back();
    open.pop_back();
    const auto body = std::make_shared<const FunctionBody>(ParseFunctionBody(graph, function));
    for (const BodyNode& node : body->nodes) visit_node(InBody(function.name, body, node));
  }
}

bool IsTable(const OpFacts& op) { return op.state != State::kNone && op.state != State::kVariable; }

bool MakesState(const ReachedNode& node) {
  if (node.facts().anonymous) return true;
  return node.op != nullptr && node.op->FindAttr("shared_name") != nullptr;
}

VariableName NameOfVariable(const ReachedNode& maker) {
  return NameOfVariable(maker.op_name != "VarHandleOp", maker.TextAttr("container"),
                        maker.TextAttr("shared_name"), maker.name);
}

std::string IdentityOf(const ReachedNode& maker) {
  const std::string_view shared = maker.TextAttr("shared_name");
  const bool own_name = shared.empty() && maker.op_name != "VarHandleOp";
  // No other node finds state that has no name, or whose name is that of a node in a function.
  if (maker.facts().anonymous || (own_name && maker.in_function()))
    return IdentityText("own", maker.function, maker.name);
  if (maker.facts().state == State::kVariable) {
    const VariableName name = NameOfVariable(maker);
    return IdentityText("variable", name.container, name.name);
  }
  return IdentityText(IsTable(maker.facts()) ? "table" : "other", maker.TextAttr("container"),
                      own_name ? maker.name : shared);
}

absl::StatusOr<NodeId> AddCopyOf(Graph& graph, const ReachedNode& maker) {
  const auto wrong = [&](std::string_view why) {
    return absl::UnimplementedError(absl::StrCat(maker.ToString(), " ", why));
  };
  if (maker.TextAttr("shared_name").empty())
    return wrong("has no 'shared_name' by which other nodes find what it makes");
  // An attribute may be a placeholder that each call binds to its own value.
  if (maker.op == nullptr || !CheckAttrs(*maker.op, maker.attrs).empty())
    return wrong("has attributes that only its call knows");
  std::vector<Output> inputs;
  for (const std::string_view input : maker.body_inputs) {
    if (input.starts_with('^')) continue;
    const BodyNode* constant = ConstOf(*maker.body, input);
    if (constant == nullptr) return wrong("takes what is no constant of the function");
    TENON_ASSIGN_OR_RETURN(
        const NodeId n,
        graph.AddNode(graph.UniqueName(absl::StrCat(maker.name, "/", constant->name)), "Const", {},
                      CopyOf(constant->attrs().all()), maker.device));
    inputs.push_back({n, 0});
  }
  if (inputs.size() != maker.op->inputs.size()) return wrong("lacks inputs");
  return graph.AddNode(graph.UniqueName(maker.name), maker.op_name, inputs,
                       CopyOf(maker.attrs.all()), maker.device);
}

}  // namespace tenon
