#include "executor/cli/explain_node.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/graph_text.h"
#include "graph/closest.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kOrigins = "_tenon_origins", kRewrites = "_tenon_rewrites";

std::string List(const std::vector<std::string>& list) {
  return list.empty() ? "nothing" : absl::StrJoin(list, ", ");
}

absl::Status Unknown(const std::string& name, const Graph& model, const Graph& optimized) {
  ClosestName closest(name);
  for (const Graph* graph : {&model, &optimized}) {
    for (NodeId n = 0; n < graph->num_node_ids(); ++n) {
      if (graph->alive(n)) closest.Offer(graph->name(n));
    }
  }
  return UsageError(absl::StrCat("--explain-node: neither the model nor the optimized graph has '",
                                 name, "'", closest.Hint()));
}

// A node of the model with its place in the file.
std::string Origin(const Graph& model, const std::string& name) {
  const NodeId n = model.FindNode(name);
  if (n == kNoNode) return name;
  return absl::StrCat(name, " (", model.op_name(n), ", ", model.Locate(n), ")");
}

}  // namespace

absl::Status ExplainNode(const Provenance& provenance, const Graph& model, const Graph& optimized,
                         Invocation& invocation) {
  const std::string& name = invocation.options.explain_node;
  const NodeId is = optimized.FindNode(name), was = model.FindNode(name);
  if (is == kNoNode && was == kNoNode) return Unknown(name, model, optimized);
  const Provenance::Story story =
      is == kNoNode ? Provenance::Story{{name}, provenance.EndOf(name)} : provenance.Of(name);
  const std::vector<std::string> became = provenance.WhatBecameOf(name, optimized);
  Json json = Json::Object();
  json.Set("name", name)
      .Set("before", was == kNoNode ? Json() : Json(NodeText(model, was)))
      .Set("after", is == kNoNode ? Json() : Json(NodeText(optimized, is)))
      .Set("origins", Json::ArrayOf(story.origins))
      .Set("rewrites", Json::ArrayOf(story.rewrites))
      .Set("became", Json::ArrayOf(became));
  invocation.doc.Set("explain_node", std::move(json));
  const Style& style = invocation.style;
  std::vector<std::string> origins;
  for (const std::string& origin : story.origins) origins.push_back(Origin(model, origin));
  absl::StrAppend(&invocation.text, "\n", style.Bold(name), "\n");
  if (was != kNoNode) absl::StrAppend(&invocation.text, "  was      ", NodeText(model, was), "\n");
  absl::StrAppend(&invocation.text, "  is       ", is == kNoNode ? "gone" : NodeText(optimized, is),
                  "\n  comes of ", absl::StrJoin(origins, ",\n           "), "\n  by       ",
                  List(story.rewrites), "\n  went to  ", List(became), "\n");
  return absl::OkStatus();
}

void WriteProvenance(const Provenance& provenance, Graph& graph) {
  const auto write = [&](NodeId n, std::string_view attr, const std::vector<std::string>& list) {
    const std::vector<std::string_view> views(list.begin(), list.end());
    graph.SetAttr(n, attr, attr::StringList(views));
  };
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const Provenance::Story story = provenance.Of(graph.name(n));
    if (story.origins.size() != 1 || story.origins[0] != graph.name(n))
      write(n, kOrigins, story.origins);
    if (!story.rewrites.empty()) write(n, kRewrites, story.rewrites);
  }
}

Provenance::Story WrittenStory(const Graph& graph, NodeId n) {
  const auto read = [&](std::string_view name) {
    const AttrValue* attr = graph.attrs(n).Find(name);
    if (attr == nullptr) return std::vector<std::string>();
    const auto list = attr->AsStringList().value_or(std::vector<std::string_view>());
    return std::vector<std::string>(list.begin(), list.end());
  };
  return {read(kOrigins), read(kRewrites)};
}

}  // namespace tenon::cli
