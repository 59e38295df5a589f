// graph_run explain: shows where each node is placed, and why.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/graphs/copies.h"
#include "executor/cli/graphs/trace_notes.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/model/model.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/request_flags.h"
#include "executor/cli/passes/pass_report.h"
#include "executor/cli/reports/cluster_report.h"
#include "executor/cli/reports/page.h"
#include "executor/cli/reports/schedule_report.h"
#include "executor/state/fixed_variables.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"
#include "graph/ir/node_places.h"

namespace tenon::cli {
namespace {

Json RejectedJson(const NodePlacement& placement) {
  Json array = Json::Array();
  for (const RejectedDevice& rejected : placement.rejected) {
    Json json = Json::Object();
    json.Set("device",
             rejected.device == nullptr ? placement.requested : ShortName(rejected.device))
        .Set("code", PlaceCodeName(rejected.code))
        .Set("detail", OneLine(rejected.detail));
    array.Push(std::move(json));
  }
  return array;
}

Json CopiesJson(const std::vector<EdgeCopy>& copies) {
  Json array = Json::Array();
  for (const EdgeCopy& copy : copies) {
    Json json = Json::Object();
    json.Set("from", copy.from)
        .Set("to", copy.to)
        .Set("tensor", copy.tensor)
        .Set("bytes", copy.bytes);
    array.Push(std::move(json));
  }
  return array;
}

Json PlacesJson(const Graph& graph, NodeId n) {
  Json array = Json::Array();
  for (const std::string& place : PlacesOf(graph, n)) array.Push(place);
  return array;
}

std::string RejectedText(const NodePlacement& placement) {
  std::string text;
  for (const RejectedDevice& rejected : placement.rejected) {
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    rejected.device == nullptr ? placement.requested : ShortName(rejected.device),
                    " ", PlaceCodeName(rejected.code), " (", OneLine(rejected.detail), ")");
  }
  return text;
}

std::string CopiesText(const std::vector<EdgeCopy>& copies) {
  std::string text;
  for (const EdgeCopy& copy : copies) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", copy.tensor, " from ", copy.from,
                    copy.bytes < 0 ? "" : absl::StrCat(" ", Bytes(copy.bytes)));
  }
  return text;
}

struct ExplainFlags : RequestFlags {
  std::string schedule;  // a word for NodeOrderOf; empty: the plan is not drawn

  void Declare(Declarer& d);
};

void ExplainFlags::Declare(Declarer& d) {
  DeclareFeeds(d);
  DeclareOutputs(d);
  DeclareSignature(d);
  DeclareFileIo(d);
  DeclareCompiling(d);
  d.Group(FlagGroup::kRuns);
  d.FlagWithValue("--schedule{auto}", schedule, {"auto", "speed", "memory", "file"},
                  "the plan of a run with these --input as lanes of threads and streams, by "
                  "estimated times; =file: that of run --schedule file, and so on");
  DeclareDeviceStreams(d);
  DeclareTimeout(d);
  DeclareLimits(d);
  DeclareOutput(d);
}

constexpr size_t kSpansOfPage = 5000;  // a browser draws so many with ease

// What is explained: the feeds and fetches, with values where a plan is asked for.
absl::StatusOr<RunRequest> RequestOf(const Workbench& bench, const ExplainFlags& flags) {
  if (!flags.schedule.empty()) return ReadRequest(bench.names(), flags);
  if (!flags.inputs.empty() || !flags.input_files.empty())
    return UsageError("values are fed to a plan alone: --input and --inputs need --schedule");
  if (flags.device_streams > 1)
    return UsageError("a plan alone has streams: --device-streams needs --schedule");
  TENON_ASSIGN_OR_RETURN(Endpoints ends, RequestedEndpoints(bench.names(), flags));
  RunRequest request;
  request.feed_names = std::move(ends.feeds);
  request.fetches = std::move(ends.fetches);
  return request;
}

absl::StatusOr<LaneSchedule> ScheduleOf(const Workbench& bench, Executable& executable,
                                        const RunRequest& request) {
  TENON_RETURN_IF_ERROR(HintAtInit(bench, MakePlan(executable, request.feeds)));
  return LanesOf(executable, bench.session->threads());
}

// The nodes of a graph with their places and the copies that these cost: as a table, or as a
// document.
struct NodeList {
  explicit NodeList(const std::vector<std::string>& columns) : table(columns) {}
  Table table;
  Json nodes = Json::Array();
  int64_t copy_count = 0, copy_bytes = 0, unknown = 0;  // `unknown`: copies of unknown size
};

// Why nodes of the graph stay float32, by name: what the last run of a pass for --precision says.
using Floats = std::map<std::string, std::string>;
Floats FloatsThatStay(const Executable& executable) {
  Floats floats;
  for (const PassReport& row : OptimizerReport(executable).passes) {
    if (!row.function.empty() || row.notes.empty()) continue;
    floats = {row.notes.begin(), row.notes.end()};
  }
  return floats;
}

std::string_view WhyFloat(const Floats& floats, std::string_view node) {
  const auto found = floats.find(std::string(node));
  return found == floats.end() ? std::string_view() : found->second;
}

NodeList ListNodes(const Graph& graph, const std::vector<NodePlacement>& placement,
                   const ClusterSet* clusters, const Floats& floats, const Invocation& invocation) {
  const std::vector<std::vector<EdgeCopy>> copies = CopiesInto(graph, placement);
  const bool has_places = HasPlaces(graph);
  std::vector<std::string> columns = {"node",   "op",       "device",   "requested",
                                      "reason", "rejected", "copies in"};
  if (clusters != nullptr) columns.push_back("cluster");
  if (!floats.empty()) columns.push_back("stays f32");
  if (has_places) columns.push_back("made at");
  NodeList list(columns);
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const NodePlacement& p = placement[n];
    for (const EdgeCopy& copy : copies[n]) {
      list.copy_bytes += std::max<int64_t>(copy.bytes, 0);
      list.unknown += copy.bytes < 0 ? 1 : 0;
    }
    list.copy_count += static_cast<int64_t>(copies[n].size());
    if (invocation.json()) {
      Json json = Json::Object();
      json.Set("name", graph.name(n))
          .Set("op", graph.op_name(n))
          .Set("device", ShortName(p.device))
          .Set("requested", p.requested);
      json.Set("reason", PlaceCodeName(p.reason))
          .Set("rejected", RejectedJson(p))
          .Set("copies", CopiesJson(copies[n]));
      if (clusters != nullptr) AddClusterOf(*clusters, n, json);
      if (const std::string_view why = WhyFloat(floats, graph.name(n)); !why.empty())
        json.Set("stays_f32", why);
      if (has_places) json.Set("places", PlacesJson(graph, n));
      list.nodes.Push(std::move(json));
    } else {
      std::vector<std::string> row = {std::string(graph.name(n)),
                                      std::string(graph.op_name(n)),
                                      invocation.style.Bold(ShortName(p.device)),
                                      p.requested.empty() ? "-" : p.requested,
                                      std::string(PlaceCodeName(p.reason)),
                                      RejectedText(p),
                                      CopiesText(copies[n])};
      if (clusters != nullptr) row.push_back(ClusterOf(*clusters, n));
      if (!floats.empty()) row.emplace_back(WhyFloat(floats, graph.name(n)));
      if (has_places) row.push_back(PlacesText(graph, n));
      list.table.Row(std::move(row));
    }
  }
  return list;
}

absl::Status Explain(const ExplainFlags& given, Invocation& invocation) {
  ExplainFlags flags = given;
  const bool draws = !flags.schedule.empty();
  flags.keep_costs = draws;
  if (draws) flags.node_order = flags.schedule;
  TENON_ASSIGN_OR_RETURN(Workbench bench, OpenWorkbench(flags));
  TENON_ASSIGN_OR_RETURN(const RunRequest request, RequestOf(bench, flags));
  // Variables that a run takes as constants are constants here too.
  if (bench.saved.has_value())
    TENON_RETURN_IF_ERROR(InitializeState(bench, flags, request.fetches));
  const FixedVariables* fixed = bench.session->fixed_variables();
  const size_t constants = fixed == nullptr ? 0 : fixed->constants().size();
  std::optional<LaneSchedule> lanes;
  TENON_ASSIGN_OR_RETURN(Executable* const executable,
                         PrepareExecutable(bench, flags, request.feed_names, request.fetches));
  Page page(flags);
  if (draws) {
    TENON_ASSIGN_OR_RETURN(lanes, ScheduleOf(bench, *executable, request));
    page.Set("schedule", ScheduleJson(*lanes, kSpansOfPage));
    page.AddPlan(*executable, bench.load_ms);
  }

  const Graph& graph = OptimizedGraph(*executable);
  const std::vector<NodePlacement>& placement = PlacementReport(*executable);
  const ClusterSet* const clusters = ClustersOf(*executable);
  NodeList list = ListNodes(graph, placement, clusters, FloatsThatStay(*executable), invocation);
  if (clusters != nullptr) invocation.doc.Set("clusters", ClustersJson(*clusters));
  invocation.doc.Set("nodes", std::move(list.nodes)).Set("constant_variables", constants);
  // A SavedModel has the traces of all its signatures.
  const std::vector<TraceNote> traces = TraceNotesOf(
      bench.graph(), bench.saved.has_value() ? request.fetches : std::vector<std::string>());
  if (!traces.empty()) invocation.doc.Set("traces", TraceNotesJson(traces));
  if (!invocation.json()) {
    std::string devices;
    for (const auto& [name, count] : NodesPerDevice(*executable))
      absl::StrAppend(&devices, ", ", name, " ", count);
    invocation.text = absl::StrCat(
        draws ? "" : list.table.Text(invocation.style) + "\n", Plural(graph.num_nodes(), "node"),
        devices, "; ", Plural(list.copy_count, "copy"), ", ", Bytes(list.copy_bytes),
        list.unknown > 0 ? absl::StrCat(" and ", list.unknown, " of unknown size") : "",
        constants > 0 ? absl::StrCat("; ", constants, " variables are constants") : "", "\n");
  }
  if (!invocation.json() && clusters != nullptr)
    absl::StrAppend(&invocation.text, "\n", ClustersText(*clusters, invocation.style));
  if (!invocation.json() && !traces.empty())
    absl::StrAppend(&invocation.text, "\n", TraceNotesText(traces));
  if (lanes.has_value()) {
    if (invocation.json()) {
      invocation.doc.Set("schedule", ScheduleJson(*lanes, SIZE_MAX));
    } else {
      absl::StrAppend(&invocation.text, "\n", ScheduleText(*lanes, invocation.style));
    }
  }
  AddPasses(*executable, flags, invocation);
  AddVerified(bench.watchers->verifier(), flags, invocation);
  return page.Write(bench, *executable, &request, absl::OkStatus());
}

}  // namespace

extern const Command kExplainCommand = {
    .name = "explain",
    .arguments = "MODEL",
    .fewest = 1,
    .most = 1,
    .what = "Where each node goes, why, why not elsewhere, and which copies that causes.",
    .examples = {"graph_run explain tests/golden/models/mlp/graph.pbtxt",
                 "graph_run explain tests/golden/models/mlp/graph.pbtxt --schedule "
                 "--input x=4x20xf32=ones --threads 2"},
    .start = Start<ExplainFlags, Explain>,
};

}  // namespace tenon::cli
