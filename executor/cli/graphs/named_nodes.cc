#include "executor/cli/graphs/named_nodes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/graphs/graph_text.h"
#include "grappler_lite/provenance/provenance.h"

namespace tenon::cli {
namespace {

std::string TextOf(const BodyNode& node) {
  std::string text =
      absl::StrCat(node.name, " = ", node.op_name(), "(", absl::StrJoin(node.inputs, ", "), ")");
  for (const Attr& a : node.attrs().all())
    absl::StrAppend(&text, " ", a.name, "=", AttrText(a.value));
  if (!node.device.empty()) absl::StrAppend(&text, " @", node.device);
  return text;
}

std::string NameOfResult(const ArgDef& result) { return absl::StrCat(result.name, "/result"); }

}  // namespace

const NamedNodes::Body& NamedNodes::BodyOf(const FunctionEntry& function) {
  std::unique_ptr<Body>& body = bodies_[function.name];
  if (body != nullptr) return *body;
  body = std::make_unique<Body>();
  body->parsed = ParseFunctionBody(graph_, function);
  for (const BodyNode& node : body->parsed.nodes) body->nodes.try_emplace(node.name, &node);
  // A malformed signature has no arguments and results to name.
  if (function.signature == nullptr) return *body;
  for (const ArgDef& arg : function.signature->inputs)
    body->ends.try_emplace(arg.name, Entry{"argument", absl::StrCat(arg.name, ", an argument")});
  const auto sources = SourcesOfResults(body->parsed.returns);
  for (const ArgDef& result : function.signature->outputs) {
    const auto source = sources.find(result.name);
    body->ends.try_emplace(
        NameOfResult(result),
        Entry{"result", absl::StrCat(result.name, ", a result: ",
                                     source == sources.end() ? "nothing" : source->second)});
  }
  return *body;
}

std::optional<NamedNodes::Entry> NamedNodes::Find(std::string_view function,
                                                  std::string_view node) {
  const FunctionEntry* entry = graph_.FindFunction(function);
  if (entry == nullptr) return std::nullopt;
  const Body& body = BodyOf(*entry);
  if (const auto it = body.nodes.find(node); it != body.nodes.end())
    return Entry{std::string(it->second->op_name()), TextOf(*it->second)};
  const auto end = body.ends.find(node);
  return end == body.ends.end() ? std::nullopt : std::optional(end->second);
}

std::optional<std::string> NamedNodes::Text(std::string_view name) {
  if (const NodeId n = graph_.FindNode(name); n != kNoNode) return NodeText(graph_, n);
  const auto [function, node] = NameInBody::Of(name);
  const std::optional<Entry> entry = Find(function, node);
  return entry.has_value() ? std::optional(entry->text) : std::nullopt;
}

std::string NamedNodes::WithPlace(std::string_view name) {
  if (const NodeId n = graph_.FindNode(name); n != kNoNode)
    return absl::StrCat(name, " (", graph_.op_name(n), ", ", graph_.Locate(n), ")");
  const auto [function, node] = NameInBody::Of(name);
  const std::optional<Entry> entry = Find(function, node);
  if (!entry.has_value()) return std::string(name);
  return absl::StrCat(name, " (", entry->op, ", function at ",
                      graph_.Locate(graph_.FindFunction(function)->pos), ")");
}

std::vector<std::string> NamedNodes::All() {
  std::vector<std::string> names;
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (graph_.alive(n)) names.emplace_back(graph_.name(n));
  }
  for (const FunctionEntry& function : graph_.functions()) {
    const Body& body = BodyOf(function);
    for (const BodyNode& node : body.parsed.nodes)
      names.push_back(NameInBody{function.name, node.name}.Text());
    if (function.signature == nullptr) continue;
    for (const ArgDef& arg : function.signature->inputs)
      names.push_back(NameInBody{function.name, arg.name}.Text());
    for (const ArgDef& result : function.signature->outputs)
      names.push_back(NameInBody{function.name, NameOfResult(result)}.Text());
  }
  return names;
}

}  // namespace tenon::cli
