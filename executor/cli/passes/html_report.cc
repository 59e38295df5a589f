#include "executor/cli/passes/html_report.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "executor/cli/graphs/copies.h"
#include "executor/cli/graphs/graph_text.h"
#include "executor/cli/passes/fed_shapes.h"
#include "executor/cli/passes/pass_report.h"
#include "executor/cli/passes/report_page.h"
#include "executor/values/tensor_text.h"
#include "graph/base/file_bytes.h"
#include "graph/base/file_writer.h"
#include "graph/base/one_line.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/shared_functions.h"
#include "graph/shapes/shape_inference.h"
#include "grappler_lite/provenance/graph_changes.h"
#include "plugin/device/device.h"

namespace tenon::cli {
namespace {

constexpr size_t kMostChanges = 1000;   // of one pass
constexpr int32_t kMostNodes = 20'000;  // of a graph; a browser shows a part of them with ease
constexpr size_t kMostText = 2000;      // bytes of an attribute or a line; the file has the rest

std::string Cut(std::string text) {
  if (text.size() <= kMostText) return text;
  const size_t size = text.size();
  text.resize(kMostText);
  return absl::StrCat(text, "… (", size, " bytes)");
}

std::string CutNodeText(const Graph& graph, NodeId n) { return Cut(NodeText(graph, n)); }

// One graph of the page, or the body of a function, and what is known of its nodes.
struct Part {
  const Graph& graph;
  std::string_view function;     // with this body; empty: the graph itself
  const Provenance* provenance;  // null: nodes come from nowhere else
  absl::Span<const NodePlacement> placement;
  GraphShapes shapes;
  std::vector<std::vector<EdgeCopy>> copies;  // by node id, if there is a placement

  std::string NameOf(NodeId n) const { return NameInBody{function, graph.name(n)}.Text(); }
};

Json InputsJson(const Part& part, NodeId n) {
  const std::string prefix = NameInBody{part.function, ""}.Text();
  Json inputs = Json::Array();
  for (const Output& in : part.graph.inputs(n)) {
    if (in.node == kNoNode) continue;
    std::string name = part.graph.OutputName(in);
    name.insert(in.is_control() ? 1 : 0, prefix);
    inputs.Push(name);
  }
  return inputs;
}

Json AttrsJson(const Graph& graph, NodeId n) {
  Json attrs = Json::Object();
  for (const Attr& a : graph.attrs(n).all()) attrs.Set(a.name, Cut(AttrText(a.value)));
  return attrs;
}

// Bytes of a tensor in memory; -1: not known.
int64_t BytesOf(DataType dtype, const PartialShape& shape) {
  const int64_t elements = shape.num_elements();
  const auto size = static_cast<int64_t>(DataTypeSize(dtype));
  int64_t bytes = 0;
  const bool known = elements >= 0 && size > 0 && !__builtin_mul_overflow(elements, size, &bytes);
  return known ? bytes : -1;
}

// Sets the type and the bytes of each output.
void AddOutputs(const Part& part, NodeId n, Json& json) {
  if (part.graph.op(n) == nullptr || n >= part.shapes.num_nodes()) return;
  Json types = Json::Array(), bytes = Json::Array();
  for (int32_t port = 0; port < part.graph.num_outputs(n); ++port) {
    const DataType dtype = part.graph.output_type({n, port});
    const PartialShape& shape = part.shapes.shape({n, port});
    types.Push(TypeText(dtype, shape));
    bytes.Push(BytesOf(dtype, shape));
  }
  json.Set("types", std::move(types)).Set("bytes", std::move(bytes));
}

void AddPlacement(const Part& part, NodeId n, Json& json) {
  if (static_cast<size_t>(n) >= part.placement.size()) return;
  const NodePlacement& placement = part.placement[n];
  if (placement.device == nullptr) return;
  Json rejected = Json::Array(), copies = Json::Array();
  for (const RejectedDevice& other : placement.rejected) {
    rejected.Push(
        absl::StrCat(other.device == nullptr ? placement.requested : other.device->short_name(),
                     " ", PlaceCodeName(other.code), ": ", OneLine(other.detail)));
  }
  for (const EdgeCopy& copy : part.copies[n]) {
    Json one = Json::Object();
    one.Set("tensor", copy.tensor).Set("from", copy.from).Set("to", copy.to);
    one.Set("bytes", copy.bytes);
    copies.Push(std::move(one));
  }
  json.Set("on", placement.device->short_name()).Set("why", PlaceCodeName(placement.reason));
  json.Set("rejected", std::move(rejected)).Set("copies", std::move(copies));
}

Json NodeJson(const Part& part, NodeId n) {
  Json json = Json::Object();
  json.Set("name", part.NameOf(n))
      .Set("op", part.graph.op_name(n))
      .Set("device", part.graph.device(n))
      .Set("inputs", InputsJson(part, n))
      .Set("attrs", AttrsJson(part.graph, n));
  AddOutputs(part, n, json);
  AddPlacement(part, n, json);
  if (part.provenance == nullptr) return json;
  const Provenance::History history = part.provenance->Of(part.NameOf(n));
  json.Set("origins", Json::ArrayOf(history.origins))
      .Set("rewrites", Json::ArrayOf(history.rewrites));
  return json;
}

Json GraphJson(Part part) {
  int32_t count = 0;
  bool complete = true;
  const auto add = [&](const Part& of, Json& list) {
    complete &= of.graph.num_nodes() <= kMostNodes - count;
    for (NodeId n = 0; n < of.graph.num_node_ids() && count < kMostNodes; ++n) {
      if (!of.graph.alive(n)) continue;
      list.Push(NodeJson(of, n));
      ++count;
    }
  };
  const Graph& graph = part.graph;
  if (!part.placement.empty())
    part.copies = CopiesInto(graph, {part.placement.begin(), part.placement.end()});
  Json nodes = Json::Array(), bodies = Json::Array();
  add(part, nodes);
  const std::shared_ptr<SharedFunctions> functions = SharedFunctions::Of(graph);
  for (const FunctionEntry& function : graph.functions()) {
    const absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(graph, function, functions);
    complete &= body.ok();
    if (body.ok()) {
      add({body->graph, function.name, part.provenance, {}, ShapesWithFeeds(body->graph, {}), {}},
          bodies);
    }
    if (!complete && count >= kMostNodes) break;
  }
  Json json = Json::Object();
  json.Set("count", graph.num_nodes())
      .Set("nodes", std::move(nodes))
      .Set("bodies", std::move(bodies))
      .Set("complete", complete);
  return json;
}

// What each reason of a placement means.
Json ReasonsJson() {
  Json reasons = Json::Object();
  for (const PlaceCodeFacts& code : AllPlaceCodes()) reasons.Set(code.name, code.means);
  return reasons;
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
        .Set("before", change.before == kNoNode ? "" : CutNodeText(run.before, change.before))
        .Set("after", change.after == kNoNode ? "" : CutNodeText(after, change.after));
    list.Push(std::move(json));
  }
  Json pass = Json::Object();
  pass.Set("pass", run.pass).Set("iteration", run.iteration).Set("function", run.function);
  pass.Set("changed", row.changed);
  pass.Set("count", static_cast<int64_t>(changes.size())).Set("list", std::move(list));
  changes_.push_back(std::move(pass));
}

absl::Status WriteHtmlReport(const std::string& path, ReportSubject subject) {
  Json changes = Json::Array();
  for (Json& pass : subject.history.TakeChanges()) changes.Push(std::move(pass));
  Json data = Json::Object();
  data.Set("title", subject.title)
      .Set("passes", PassesJson(subject.report))
      .Set("changes", std::move(changes))
      .Set("reasons", ReasonsJson())
      .Set("before",
           GraphJson(
               {subject.before, "", nullptr, {}, ShapesWithFeeds(subject.before, subject.fed), {}}))
      .Set("after", GraphJson({subject.after,
                               "",
                               &subject.provenance,
                               subject.placement,
                               ShapesWithFeeds(subject.after, subject.fed),
                               {}}));
  if (!subject.more.Find("schedule").has_value()) data.Set("schedule", Json());
  for (const std::string& key : subject.more.Keys()) data.Set(key, *subject.more.Find(key));
  return WithPath("--report", WriteFile(path, PageWith(data.Dump())));
}

}  // namespace tenon::cli
