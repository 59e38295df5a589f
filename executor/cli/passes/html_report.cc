#include "executor/cli/passes/html_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "executor/cli/graphs/graph_text.h"
#include "executor/cli/passes/pass_report.h"
#include "executor/cli/passes/report_page.h"
#include "graph/base/file_bytes.h"
#include "graph/base/file_writer.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/shared_functions.h"
#include "grappler_lite/provenance/graph_changes.h"

namespace tenon::cli {
namespace {

constexpr size_t kMostChanges = 1000;   // of one pass
constexpr int32_t kMostNodes = 20'000;  // of a graph; a browser shows a part of them with ease

// `function`: the function with this body; empty for the graph itself.
Json NodeJson(const Graph& graph, NodeId n, const Provenance* provenance,
              std::string_view function) {
  const std::string prefix = NameInBody{function, ""}.Text();
  Json inputs = Json::Array();
  for (const Output& in : graph.inputs(n)) {
    if (in.node == kNoNode) continue;
    std::string name = graph.OutputName(in);
    name.insert(in.is_control() ? 1 : 0, prefix);
    inputs.Push(name);
  }
  const std::string name = absl::StrCat(prefix, graph.name(n));
  Json json = Json::Object();
  json.Set("name", name)
      .Set("op", graph.op_name(n))
      .Set("device", graph.device(n))
      .Set("inputs", std::move(inputs))
      .Set("text", NodeText(graph, n));
  if (provenance == nullptr) return json;
  const Provenance::History history = provenance->Of(name);
  json.Set("origins", Json::ArrayOf(history.origins))
      .Set("rewrites", Json::ArrayOf(history.rewrites));
  return json;
}

Json GraphJson(const Graph& graph, const Provenance* provenance) {
  int32_t count = 0;
  bool complete = true;
  const auto add = [&](const Graph& part, std::string_view function, Json& list) {
    complete &= part.num_nodes() <= kMostNodes - count;
    for (NodeId n = 0; n < part.num_node_ids() && count < kMostNodes; ++n) {
      if (!part.alive(n)) continue;
      list.Push(NodeJson(part, n, provenance, function));
      ++count;
    }
  };
  Json nodes = Json::Array(), bodies = Json::Array();
  add(graph, "", nodes);
  const std::shared_ptr<SharedFunctions> functions = SharedFunctions::Of(graph);
  for (const FunctionEntry& function : graph.functions()) {
    const absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(graph, function, functions);
    complete &= body.ok();
    if (body.ok()) add(body->graph, function.name, bodies);
    if (!complete && count >= kMostNodes) break;
  }
  Json json = Json::Object();
  json.Set("count", graph.num_nodes())
      .Set("nodes", std::move(nodes))
      .Set("bodies", std::move(bodies))
      .Set("complete", complete);
  return json;
}

}  // namespace

void PassHistory::AfterPass(const PassRun& run, const Graph& after, const PassReport& row) {
  Json list = Json::Array();
  const std::vector<NodeChange> changes =
      row.changed ? ChangesBetween(run.before, after) : std::vector<NodeChange>();
  for (size_t i = 0; i < std::min(changes.size(), kMostChanges); ++i) {
    const NodeChange& change = changes[i];
    const std::string_view name =
        change.after == kNoNode ? run.before.name(change.before) : after.name(change.after);
    Json json = Json::Object();
    json.Set("name", NameInBody{run.function, name}.Text())
        .Set("before", change.before == kNoNode ? "" : NodeText(run.before, change.before))
        .Set("after", change.after == kNoNode ? "" : NodeText(after, change.after));
    list.Push(std::move(json));
  }
  Json pass = Json::Object();
  pass.Set("pass", run.pass).Set("iteration", run.iteration).Set("function", run.function);
  pass.Set("changed", row.changed);
  pass.Set("count", static_cast<int64_t>(changes.size())).Set("list", std::move(list));
  changes_.push_back(std::move(pass));
}

absl::Status WriteHtmlReport(const std::string& path, const std::string& title, const Graph& before,
                             const Graph& after, const PipelineReport& report, PassHistory& history,
                             const Provenance& provenance, Json schedule) {
  Json changes = Json::Array();
  for (Json& pass : history.TakeChanges()) changes.Push(std::move(pass));
  Json data = Json::Object();
  data.Set("title", title)
      .Set("passes", PassesJson(report))
      .Set("changes", std::move(changes))
      .Set("before", GraphJson(before, nullptr))
      .Set("after", GraphJson(after, &provenance))
      .Set("schedule", std::move(schedule));
  // No text of the model may end the script or begin a comment in it.
  const std::string text = absl::StrReplaceAll(data.Dump(), {{"<", "\\u003c"}});
  const std::string page = absl::StrReplaceAll(ReportPage()[0].content, {{kReportData, text}});
  return WithPath("--report", WriteFile(path, page));
}

}  // namespace tenon::cli
