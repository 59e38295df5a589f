#include "executor/cli/html_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "executor/cli/graph_text.h"
#include "executor/cli/pass_report.h"
#include "executor/cli/report_page.h"
#include "graph/file_bytes.h"
#include "grappler_lite/graph_changes.h"

namespace tenon::cli {
namespace {

constexpr size_t kMostChanges = 1000;   // of one pass
constexpr int32_t kMostNodes = 20'000;  // of a graph: what a browser draws a part of with ease

Json NodeJson(const Graph& graph, NodeId n, const Provenance* provenance) {
  Json inputs = Json::Array();
  for (const Output& in : graph.inputs(n)) {
    if (in.node != kNoNode) inputs.Push(graph.OutputName(in));
  }
  Json json = Json::Object();
  json.Set("name", graph.name(n))
      .Set("op", graph.op_name(n))
      .Set("device", graph.device(n))
      .Set("inputs", std::move(inputs))
      .Set("text", NodeText(graph, n));
  if (provenance == nullptr) return json;
  const Provenance::Story story = provenance->Of(graph.name(n));
  json.Set("origins", Json::ArrayOf(story.origins)).Set("rewrites", Json::ArrayOf(story.rewrites));
  return json;
}

Json GraphJson(const Graph& graph, const Provenance* provenance) {
  Json nodes = Json::Array();
  for (NodeId n = 0, count = 0; n < graph.num_node_ids() && count < kMostNodes; ++n) {
    if (!graph.alive(n)) continue;
    nodes.Push(NodeJson(graph, n, provenance));
    ++count;
  }
  Json json = Json::Object();
  json.Set("count", graph.num_nodes()).Set("nodes", std::move(nodes));
  return json;
}

}  // namespace

void PassHistory::AfterPass(const PassRun& run, const Graph& after, const PassReport& row) {
  Json list = Json::Array();
  const std::vector<NodeChange> changes =
      row.changed ? ChangesBetween(run.before, after) : std::vector<NodeChange>();
  for (size_t i = 0; i < std::min(changes.size(), kMostChanges); ++i) {
    const NodeChange& change = changes[i];
    Json json = Json::Object();
    json.Set("name",
             change.after == kNoNode ? run.before.name(change.before) : after.name(change.after))
        .Set("before", change.before == kNoNode ? "" : NodeText(run.before, change.before))
        .Set("after", change.after == kNoNode ? "" : NodeText(after, change.after));
    list.Push(std::move(json));
  }
  Json pass = Json::Object();
  pass.Set("pass", run.pass).Set("iteration", run.iteration).Set("function", run.function);
  pass.Set("count", static_cast<int64_t>(changes.size())).Set("list", std::move(list));
  changes_.push_back(std::move(pass));
}

absl::Status WriteHtmlReport(const std::string& path, const std::string& title, const Graph& before,
                             const Graph& after, const PipelineReport& report, PassHistory& history,
                             const Provenance& provenance) {
  Json changes = Json::Array();
  for (Json& pass : history.TakeChanges()) changes.Push(std::move(pass));
  Json data = Json::Object();
  data.Set("title", title)
      .Set("passes", PassesJson(report))
      .Set("changes", std::move(changes))
      .Set("before", GraphJson(before, nullptr))
      .Set("after", GraphJson(after, &provenance));
  // Nothing that a model holds may end the script or begin a comment in it.
  const std::string text = absl::StrReplaceAll(data.Dump(), {{"<", "\\u003c"}});
  const std::string page = absl::StrReplaceAll(ReportPage()[0].content, {{kReportData, text}});
  return WithPath("--report", WriteFile(path, page));
}

}  // namespace tenon::cli
