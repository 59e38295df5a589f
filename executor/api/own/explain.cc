// TENON_ExplainGraph and TENON_OptimizeGraph.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/base/process.h"
#include "executor/place/place_codes.h"
#include "executor/session/reports.h"
#include "executor/session/session.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/io/io.h"
#include "graph/ir/node_places.h"
#include "graph/verify/defect.h"
#include "plugin/device/device.h"
#include "tenon/tenon_c.h"

namespace tenon::api {
namespace {

// What the functions were given, without nulls.
struct ExplainRequest {
  std::string graph_def;
  std::vector<std::string> feeds, fetches;
};

struct Compiled {
  Graph graph;
  std::unique_ptr<Session> session;
  Executable* executable;
};

absl::StatusOr<Compiled> Compile(ExplainRequest request) {
  TENON_ASSIGN_OR_RETURN(Imported imported,
                         ImportBinary(std::move(request.graph_def), "the GraphDef"));
  for (const Defect& defect : imported.defects) {
    if (!MayBeUnused(defect)) return absl::InvalidArgumentError(defect.ToString());
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Device*> devices, ProcessDevices());
  Compiled compiled;
  compiled.graph = imported.graph;
  TENON_ASSIGN_OR_RETURN(compiled.session, Session::Create(std::move(imported.graph),
                                                           std::move(devices), SessionOptions()));
  TENON_ASSIGN_OR_RETURN(compiled.executable,
                         compiled.session->Prepare(request.feeds, request.fetches));
  return compiled;
}

std::string NameOf(const Device* device) { return device == nullptr ? "?" : device->short_name(); }

// "pass remapping: fuse 3, fold 1".
std::string PassText(const PassReport& pass) {
  if (!pass.changed && !pass.failed && !pass.left_undone) return {};
  std::string text = absl::StrCat("pass ", pass.name);
  if (!pass.function.empty()) absl::StrAppend(&text, " of ", pass.function);
  if (pass.failed) absl::StrAppend(&text, " was undone: ", OneLine(pass.reason));
  if (pass.left_undone) absl::StrAppend(&text, ": ", OneLine(pass.reason));
  std::string_view before = ": ";
  for (const auto& [name, count] : pass.rewrites) {
    absl::StrAppend(&text, before, name, " ", count);
    before = ", ";
  }
  return text + "\n";
}

absl::StatusOr<std::string> Explain(ExplainRequest request) {
  TENON_ASSIGN_OR_RETURN(const Compiled compiled, Compile(std::move(request)));
  const Graph& graph = OptimizedGraph(*compiled.executable);
  const std::vector<NodePlacement>& placement = PlacementReport(*compiled.executable);
  std::string text;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const NodePlacement& where = placement[n];
    absl::StrAppend(&text, graph.name(n), ": ", graph.op_name(n), " on ", NameOf(where.device),
                    " (", PlaceCodeName(where.reason), ")");
    for (const RejectedDevice& rejected : where.rejected) {
      absl::StrAppend(&text, ", not on ",
                      rejected.device == nullptr ? where.requested : NameOf(rejected.device), " (",
                      PlaceCodeName(rejected.code), ": ", OneLine(rejected.detail), ")");
    }
    const std::string place = PlacesText(graph, n);
    absl::StrAppend(&text, place.empty() ? "" : absl::StrCat(", made at ", place), "\n");
  }
  const PipelineReport& report = OptimizerReport(*compiled.executable);
  absl::StrAppend(&text, "\n", report.nodes_before, " nodes before the passes, ",
                  report.nodes_after, " after\n");
  for (const PassReport& pass : report.passes) absl::StrAppend(&text, PassText(pass));
  return text;
}

absl::StatusOr<std::string> Optimize(ExplainRequest request) {
  TENON_ASSIGN_OR_RETURN(const Compiled compiled, Compile(std::move(request)));
  return ExportBinary(GraphToWrite(*compiled.executable, compiled.graph));
}

TF_Buffer* Answer(absl::StatusOr<std::string> (*function)(ExplainRequest), const void* graph_def,
                  size_t length, const char* const* feeds, int num_feeds,
                  const char* const* fetches, int num_fetches, TF_Status* status) {
  if (!IsBytes("graph_def", graph_def, length, status) ||
      !IsArray("feeds", feeds, num_feeds, status) ||
      !IsArray("fetches", fetches, num_fetches, status))
    return nullptr;
  ExplainRequest request;
  request.graph_def.assign(static_cast<const char*>(graph_def), length);
  for (int i = 0; i < num_feeds; ++i)
    request.feeds.emplace_back(absl::NullSafeStringView(feeds[i]));
  for (int i = 0; i < num_fetches; ++i)
    request.fetches.emplace_back(absl::NullSafeStringView(fetches[i]));
  const absl::StatusOr<std::string> answer = function(std::move(request));
  StatusToC(answer.status(), status);
  return answer.ok() ? NewBuffer(*answer) : nullptr;
}

}  // namespace
}  // namespace tenon::api

extern "C" {

TF_Buffer* TENON_ExplainGraph(const void* graph_def, size_t length, const char* const* feeds,
                              int num_feeds, const char* const* fetches, int num_fetches,
                              TF_Status* status) try {
  return tenon::api::Answer(tenon::api::Explain, graph_def, length, feeds, num_feeds, fetches,
                            num_fetches, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Buffer* TENON_OptimizeGraph(const void* graph_def, size_t length, const char* const* feeds,
                               int num_feeds, const char* const* fetches, int num_fetches,
                               TF_Status* status) try {
  return tenon::api::Answer(tenon::api::Optimize, graph_def, length, feeds, num_feeds, fetches,
                            num_fetches, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
