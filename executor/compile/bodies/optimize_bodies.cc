// Bodies are a list of work: what an optimized body calls joins the list. Changed bodies are
// adopted or rolled back together.

#include "executor/compile/bodies/optimize_bodies.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/bodies/body_calls.h"
#include "executor/compile/bodies/body_placement.h"
#include "executor/compile/bodies/lost_effects.h"
#include "executor/compile/bodies/new_functions.h"
#include "executor/compile/passes/plugin_passes.h"
#include "executor/lowering/call_inliner.h"
#include "executor/lowering/lowering.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/function_library.h"
#include "graph/io/io.h"
#include "graph/ir/nodes.h"

namespace tenon {
namespace {

// Larger bodies hold large constants, and passes would copy these.
constexpr size_t kMaxBodyBytes = size_t{64} << 20;

// A body on its way through the stages.
struct Body {
  Body(const FunctionEntry& function, std::string device, FunctionGraph graph)
      : function(function), device(std::move(device)), graph(std::move(graph)) {
    for (const NodeId n : this->graph.results) fetches.push_back({n, 0});
    for (const NodeId n : this->graph.effects) fetches.push_back({n, kControlPort});
  }

  const FunctionEntry function;  // as it was
  const std::string device;      // that all callers want
  FunctionGraph graph;
  std::vector<Output> fetches;  // all that the function does
  BodyPlacement placement;
  bool changed = false;
};

// The facts about a body for the pass of a plug-in. As in TensorFlow, the pass must keep everything
// that the body does besides computing its results.
OptimizerItem ItemOf(const Body& body, NodeEvaluator* evaluator) {
  const FunctionGraph& graph = body.graph;
  const auto name = [&](NodeId n) { return std::string(graph.graph.name(n)); };
  OptimizerItem item;
  item.function = body.function.name;
  item.evaluator = evaluator;
  item.args = graph.args;
  item.results = graph.results;
  for (const NodeId n : graph.results) item.fetches.push_back(name(n));
  for (const NodeId n : graph.args) item.keep.insert(name(n));
  for (const NodeId n : graph.effects) item.keep.insert(name(n));
  return item;
}

// Takes each called body through the stages of the graph (executor/compile/stages.h): requested,
// inlined, placed, optimized. The changed bodies enter the library together at the end, so that all
// bodies inline the functions of before, and one check serves them all.
class BodyOptimizer {
 public:
  BodyOptimizer(Graph& graph, const PipelineInput& input, const BodySurroundings& surroundings,
                PipelineOptions options)
      : graph_(graph),
        input_(input),
        surroundings_(surroundings),
        options_(std::move(options)),
        before_(graph),
        calls_(graph, surroundings.caller_devices) {
    for (const Output& fetch : input.fetches) caller_.fetches.push_back(graph.OutputName(fetch));
    for (const NodeId feed : input.feeds) caller_.feeds.emplace_back(graph.name(feed));
    std::sort(caller_.feeds.begin(), caller_.feeds.end());
  }

  absl::StatusOr<std::vector<PassReport>> Run() {
    AddCallsOf(graph_);
    for (size_t i = 0; i < work_.size(); ++i) {
      if (std::optional<Body> body = Request(work_[i]); body.has_value())
        TENON_RETURN_IF_ERROR(Optimize(*body));
    }
    if (!wires_.empty() && Adopt()) TENON_RETURN_IF_ERROR(Prune());
    return std::move(rows_);
  }

 private:
  void AddCallsOf(const Graph& graph) {
    for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
      if (!graph.alive(n) || !IsFunctional(graph, n)) continue;
      for (const std::string_view name : CalledBy(graph.op_name(n), graph.attrs(n))) {
        const FunctionEntry* function = graph_.FindFunction(name);
        if (function != nullptr && seen_.insert(function->name).second)
          work_.push_back(function->name);
      }
    }
  }

  // The body as a graph; nullopt if it must stay as it is. A defect of the body is no error here:
  // the run reports it if it needs the function.
  std::optional<Body> Request(std::string_view name) const {
    std::optional<std::string> device = new_functions_.DeviceFor(name);
    if (!device.has_value()) device = calls_.DeviceFor(name);
    const FunctionEntry& function = *graph_.FindFunction(name);
    if (!device.has_value() || function.wire.size() > kMaxBodyBytes) return std::nullopt;
    absl::StatusOr<FunctionGraph> graph = FunctionGraph::Make(graph_, function, functions_);
    if (!graph.ok() || !VerifyNodes(graph->graph).empty()) return std::nullopt;
    return std::optional<Body>(std::in_place, function, *std::move(device), *std::move(graph));
  }

  absl::Status Optimize(Body& body) {
    caller_.with = [&](const Graph& now) { return GraphWith(body.graph, now, body.placement); };
    const size_t rows = rows_.size();
    TENON_RETURN_IF_ERROR(InlineCalls(body));
    const bool keeps_unavailable = options_.target.is_tensorflow();
    if (!body.placement.Apply(body.graph.graph, body.device, surroundings_, keeps_unavailable).ok())
      return Drop(body, rows);
    TENON_RETURN_IF_ERROR(RunPasses(body));
    if (body.changed) AwaitLostEffects(graph_, body.function, body.graph);
    if (body.changed && !TakeFunctions(body.graph.graph)) return Drop(body, rows);
    body.placement.Undo(body.graph.graph);
    if (body.changed) wires_.push_back(body.graph.Wire());
    AddCallsOf(body.graph.graph);
    return absl::OkStatus();
  }

  // Gives the work on a body up: drops its rows of the report, from `rows` on.
  absl::Status Drop(const Body& body, size_t rows) {
    rows_.resize(rows);
    for (PipelineObserver* observer : options_.observers) observer->BodyDropped(body.function.name);
    return absl::OkStatus();
  }

  PipelineInput InputFor(const Body& body) const {
    PipelineInput input;
    input.function = body.function.name;
    input.fetches = body.fetches;
    input.feeds = {body.graph.args.begin(), body.graph.args.end()};
    input.evaluator = input_.evaluator;
    input.kernels = input_.kernels;
    input.caller = &caller_;
    input.fixed_device = [](std::string_view) { return true; };
    input.caller_device = body.device;
    return input;
  }

  absl::Status InlineCalls(Body& body) {
    PipelineInput input = InputFor(body);
    std::vector<NodeId> nodes(body.graph.graph.num_node_ids());
    std::iota(nodes.begin(), nodes.end(), 0);
    CallSites sites;
    LoweringInliner inliner(nodes, input, sites, inline_budget_);
    input.inliner = &inliner;
    PipelineOptions options = options_;
    AddSwitchedOff(surroundings_.devices, options);
    TENON_ASSIGN_OR_RETURN(const PipelineReport report,
                           RunUnplacedPasses(body.graph.graph, input, options));
    body.changed |= Note(report);
    return absl::OkStatus();
  }

  absl::Status RunPasses(Body& body) {
    PipelineInput input = InputFor(body);
    const PluginPasses plugins(body.graph.graph, ItemOf(body, input_.evaluator), *input_.kernels,
                               options_);
    PipelineOptions options = options_;
    plugins.AddSwitchedOff(options);
    input.final_passes = plugins.passes();
    TENON_ASSIGN_OR_RETURN(const PipelineReport report,
                           RunPipeline(body.graph.graph, input, options));
    body.changed |= Note(report);
    return absl::OkStatus();
  }

  // Moves functions that passes have made to the library. Returns false if the graph has different
  // functions of the same names.
  bool TakeFunctions(const Graph& body) {
    const bool had_too_many = new_functions_.too_many();
    if (!new_functions_.TakeFrom(body)) return false;
    if (!had_too_many && new_functions_.too_many()) {
      options_.disabled_rewrites.insert(
          options_.disabled_rewrites.end(),
          {"function_specialization.push_constants", "function_specialization.remove_unused"});
    }
    return true;
  }

  // The whole graph with its functions as they are now, the body `now` among them: for observers.
  Graph GraphWith(FunctionGraph body, const Graph& now, const BodyPlacement& placement) const {
    body.graph = now;
    placement.Undo(body.graph);
    std::vector<std::string> wires = wires_;
    for (const FunctionEntry& function : now.functions()) {
      if (graph_.FindFunction(function.name) == nullptr) wires.emplace_back(function.wire);
    }
    wires.push_back(body.Wire());
    Graph whole = graph_;
    PutFunctions(whole, wires);
    return whole;
  }

  // Whether the passes changed anything.
  bool Note(const PipelineReport& report) {
    options_.bisect_limit = report.rewrites_left;
    options_.grown = report.grown;
    options_.worked = report.worked;
    bool changed = false;
    for (const PassReport& row : report.passes) {
      changed |= row.changed;
      if (row.changed || row.failed || !row.budget_spent.empty()) rows_.push_back(row);
    }
    return changed;
  }

  // Puts the changed bodies into the library. If the graph does not verify then, puts all of them
  // back, marks the rows as failed and returns false.
  bool Adopt() {
    PutFunctions(graph_, wires_);
    for (const Defect& defect : Verify(graph_)) {
      // Shapes that do not fit in the graph itself were there before.
      if (MayBeUnused(defect) || (defect.code == DefectCode::kShape && !defect.in_function))
        continue;
      graph_ = before_;
      for (PipelineObserver* observer : options_.observers) observer->BodyDropped("");
      for (PassReport& row : rows_) {
        row.changed = false;
        row.failed = true;
        row.reason = absl::StrCat("rolled back: ", defect.message);
      }
      return false;
    }
    return true;
  }

  // Removes functions that nothing calls any more, since they were inlined into bodies; only if the
  // user's list of passes has model_pruning.
  absl::Status Prune() {
    const std::vector<PassSpec>& passes = options_.passes;
    const PassSpec pruning{"model_pruning", {}};
    const auto is_pruning = [&](const PassSpec& spec) { return spec.name == pruning.name; };
    if (!passes.empty() && std::none_of(passes.begin(), passes.end(), is_pruning))
      return absl::OkStatus();
    options_.passes = {pruning};
    options_.iterations = 1;
    TENON_ASSIGN_OR_RETURN(const PipelineReport report, RunPipeline(graph_, input_, options_));
    Note(report);
    return absl::OkStatus();
  }

  Graph& graph_;
  const PipelineInput& input_;
  const BodySurroundings& surroundings_;
  PipelineOptions options_;
  const Graph before_;
  const BodyCalls calls_;
  const std::shared_ptr<SharedFunctions> functions_ = SharedFunctions::Of(graph_);
  NewFunctions new_functions_{graph_, functions_};
  CallingGraph caller_;
  InlineBudget inline_budget_;
  std::vector<std::string_view> work_;
  absl::flat_hash_set<std::string_view> seen_;
  std::vector<std::string> wires_;
  std::vector<PassReport> rows_;
};

}  // namespace

absl::StatusOr<std::vector<PassReport>> OptimizeBodies(Graph& graph, const PipelineInput& input,
                                                       const BodySurroundings& surroundings,
                                                       PipelineOptions options) {
  // Rules of placement match names that nodes of bodies get only when they are inlined.
  const bool ruled = surroundings.devices.size() > 1 && !surroundings.placer.rules.empty();
  if (graph.functions().empty() || ruled) return std::vector<PassReport>();
  return BodyOptimizer(graph, input, surroundings, std::move(options)).Run();
}

}  // namespace tenon
