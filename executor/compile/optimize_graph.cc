// The stage Optimized: built-in passes, then those of plug-ins, then the bodies of functions.
#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/bodies/optimize_bodies.h"
#include "executor/compile/pass_input.h"
#include "executor/compile/passes/plugin_passes.h"
#include "executor/compile/stages.h"
#include "executor/compile/stopwatch.h"
#include "graph/base/status_macros.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {
namespace {

OptimizerItem ItemFor(const Placed& placed, NodeEvaluator& evaluator) {
  const Graph& graph = placed.graph;
  OptimizerItem item;
  for (const Output& o : placed.request.fetches) {
    item.fetches.push_back(
        absl::StrCat(graph.name(o.node), o.is_control() ? "" : absl::StrCat(":", o.port)));
  }
  for (const Output& o : placed.request.feeds) item.feeds.emplace_back(graph.name(o.node));
  item.evaluator = &evaluator;
  return item;
}

// The names of the nodes that passes must leave on their devices: views of the storage, which stays
// when a pass changes the graph.
absl::flat_hash_set<std::string_view> PinnedNodes(const Placed& placed) {
  absl::flat_hash_set<std::string_view> pinned;
  for (NodeId n = 0; n < placed.graph.num_node_ids(); ++n) {
    if (placed.graph.alive(n) && !FactsOf(placed.placement[n].reason).yields_to_passes)
      pinned.insert(placed.graph.name(n));
  }
  return pinned;
}

// Runs all passes, then the passes over bodies. All passes keep the ids of nodes, those of plug-ins
// too, so that the request stays true.
absl::Status RunPasses(const CompileContext& context, Placed& placed) {
  PipelineReport& whole = placed.pipeline;
  PipelineOptions options = context.options.pipeline;
  options.bisect_limit = whole.rewrites_left;
  options.worked = whole.worked;
  PassSurroundings surroundings(context);
  PipelineInput input = surroundings.InputFor(placed.request);
  const absl::flat_hash_set<std::string_view> pinned = PinnedNodes(placed);
  input.fixed_device = [&pinned](std::string_view node) { return pinned.contains(node); };
  const PluginPasses plugins(placed.graph, ItemFor(placed, surroundings.evaluator),
                             surroundings.oracle, options);
  WarnOfConfigs(plugins.optimizers(), options.enabled_passes);
  // Plug-ins of devices that the graph is on switch built-in passes off for the graph. Each body
  // asks again, for its own devices: so the change goes into a copy.
  PipelineOptions of_graph = options;
  plugins.AddSwitchedOff(of_graph);
  input.final_passes = plugins.passes();
  TENON_ASSIGN_OR_RETURN(PipelineReport report, RunPipeline(placed.graph, input, of_graph));
  std::ranges::move(report.passes, std::back_inserter(whole.passes));

  options.bisect_limit = report.rewrites_left;
  options.grown = report.grown;
  options.worked = report.worked;
  TENON_ASSIGN_OR_RETURN(std::vector<PassReport> bodies,
                         OptimizeBodies(placed.graph, surroundings.InputFor(placed.request),
                                        {context.devices, context.kernels.registry(),
                                         context.options.placer, placed.caller_devices},
                                        options));
  std::ranges::move(bodies, std::back_inserter(whole.passes));
  whole.nodes_after = placed.graph.num_nodes();
  TENON_ASSIGN_OR_RETURN(placed.placement,
                         PlaceNewNodes(placed.graph, std::move(placed.placement), context));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Optimized> OptimizeGraph(Placed placed, const CompileContext& context) {
  const Stopwatch watch;
  if (context.options.opt_level > 0) {
    TENON_RETURN_IF_ERROR(RunPasses(context, placed));
    placed.times.optimize += watch.Milliseconds();
  }
  return Optimized{
      .graph = std::make_shared<const Graph>(std::move(placed.graph)),
      .request = std::move(placed.request),
      .calls = std::move(placed.calls),
      .placement = std::make_shared<const std::vector<NodePlacement>>(std::move(placed.placement)),
      .caller_devices = std::move(placed.caller_devices),
      .pipeline = std::move(placed.pipeline),
      .times = placed.times};
}

}  // namespace tenon
