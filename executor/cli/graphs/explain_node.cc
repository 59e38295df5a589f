#include "executor/cli/graphs/explain_node.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/graphs/named_nodes.h"
#include "graph/base/closest.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/function_library.h"
#include "graph/functions/shared_functions.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kOrigins = "_tenon_origins", kRewrites = "_tenon_rewrites";

constexpr char kNewLine[] = "\n           ";  // continues below the text that follows a title

// Breaks the text behind a title into lines that fit the terminal. A terminal too narrow for that
// gets one line.
std::string Wrapped(const std::string& text, const Style& style) {
  constexpr size_t kIndent = sizeof(kNewLine) - 2;
  if (style.width() <= 2 * kIndent) return text;
  return absl::StrJoin(WrapText(text, style.width() - kIndent), kNewLine);
}

std::string List(const std::vector<std::string>& list, const Style& style) {
  return list.empty() ? "nothing" : Wrapped(absl::StrJoin(list, ", "), style);
}

// The error for an unknown name. Suggests the node of this name in a function, or else the closest
// name.
absl::Status Unknown(const std::string& name, NamedNodes& model, NamedNodes& optimized) {
  if (model.HasFunction(name) || optimized.HasFunction(name)) {
    return UsageError(absl::StrCat("--explain-node: '", name, "' is a function; its nodes are '",
                                   name, ":NODE'"));
  }
  std::vector<std::string> names = model.All();
  for (std::string& other : optimized.All()) names.push_back(std::move(other));
  ClosestName closest(name);
  std::string of_function;
  for (const std::string& known : names) {
    closest.Offer(known);
    if (of_function.empty() && absl::EndsWith(known, absl::StrCat(":", name))) of_function = known;
  }
  const std::string hint =
      of_function.empty() ? closest.Hint() : absl::StrCat(" (did you mean '", of_function, "'?)");
  return UsageError(absl::StrCat("--explain-node: neither the model nor the optimized graph has '",
                                 name, "'", hint));
}

// Sets the attribute to the list, or removes it if the list is empty. Returns whether it changed
// the node.
bool WriteList(std::string_view attr, const std::vector<std::string>& list, Graph& graph,
               NodeId n) {
  if (list.empty()) {
    if (graph.attr(n, attr) == nullptr) return false;
    graph.RemoveAttr(n, attr);
    return true;
  }
  const std::vector<std::string_view> views(list.begin(), list.end());
  graph.SetAttr(n, attr, attr::StringList(views));
  return true;
}

// Returns whether it changed the node.
bool WriteHistory(Provenance::History history, std::string_view name, Graph& graph, NodeId n) {
  if (history.origins.size() == 1 && history.origins[0] == name) history.origins.clear();
  const bool origins = WriteList(kOrigins, history.origins, graph, n);
  return WriteList(kRewrites, history.rewrites, graph, n) || origins;
}

// Whether a node of the body may have a history of an earlier optimization.
bool MayHaveHistory(const FunctionEntry& function) {
  return absl::StrContains(function.wire, kOrigins) || absl::StrContains(function.wire, kRewrites);
}

}  // namespace

absl::Status ExplainNode(const Provenance& provenance, const Graph& model, const Graph& optimized,
                         const std::string& name, Invocation& invocation) {
  NamedNodes before(model), after(optimized);
  const std::optional<std::string> was = before.Text(name), is = after.Text(name);
  if (!is.has_value() && !was.has_value()) return Unknown(name, before, after);
  const Provenance::History history =
      is.has_value() ? provenance.Of(name) : Provenance::History{{name}, provenance.EndOf(name)};
  const std::vector<std::string> became = provenance.WhatBecameOf(name, optimized);
  Json json = Json::Object();
  json.Set("name", name)
      .Set("before", was.has_value() ? Json(*was) : Json())
      .Set("after", is.has_value() ? Json(*is) : Json())
      .Set("origins", Json::ArrayOf(history.origins))
      .Set("rewrites", Json::ArrayOf(history.rewrites))
      .Set("became", Json::ArrayOf(became));
  invocation.doc.Set("explain_node", std::move(json));
  const Style& style = invocation.style;
  std::vector<std::string> origins;
  for (const std::string& origin : history.origins) origins.push_back(before.WithPlace(origin));
  absl::StrAppend(&invocation.text, "\n", style.Bold(name), "\n");
  if (was.has_value()) absl::StrAppend(&invocation.text, "  was      ", Wrapped(*was, style), "\n");
  absl::StrAppend(&invocation.text, "  is       ", Wrapped(is.value_or("gone"), style),
                  "\n  comes of ", absl::StrJoin(origins, absl::StrCat(",", kNewLine)),
                  "\n  by       ", List(history.rewrites, style), "\n  went to  ",
                  List(became, style), "\n");
  return absl::OkStatus();
}

void WriteProvenance(const Provenance& provenance, Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) WriteHistory(provenance.Of(graph.name(n)), graph.name(n), graph, n);
  }
  std::vector<std::string> wires;
  const std::shared_ptr<SharedFunctions> functions = SharedFunctions::Of(graph);
  for (const FunctionEntry& function : graph.functions()) {
    if (!provenance.KnowsBody(function.name) && !MayHaveHistory(function)) continue;
    absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(graph, function, functions);
    if (!body.ok()) continue;
    const absl::flat_hash_set<NodeId> args(body->args.begin(), body->args.end());
    bool changed = false;
    for (NodeId n = 0; n < body->graph.num_node_ids(); ++n) {
      if (args.contains(n)) continue;  // arguments are no nodes of the file
      const std::string name = NameInBody{function.name, body->graph.name(n)}.Text();
      changed |= WriteHistory(provenance.Of(name), name, body->graph, n);
    }
    if (changed) wires.push_back(body->Wire());
  }
  if (!wires.empty()) PutFunctions(graph, wires);
}

Provenance::History WrittenHistory(const Graph& graph, NodeId n) {
  const auto read = [&](std::string_view name) {
    const AttrValue* attr = graph.attrs(n).Find(name);
    if (attr == nullptr) return std::vector<std::string>();
    const auto list = attr->AsStringList().value_or(std::vector<std::string_view>());
    return std::vector<std::string>(list.begin(), list.end());
  };
  return {read(kOrigins), read(kRewrites)};
}

}  // namespace tenon::cli
