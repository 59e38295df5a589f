// The stage Placed, and the placement of what later stages make.
#include <utility>

#include "executor/compile/stages.h"
#include "executor/compile/stopwatch.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"

namespace tenon {
namespace {

CallerDevices DevicesOfCallers(const Graph& graph) {
  CallerDevices devices;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && !graph.device(n).empty() && IsFunctional(graph, n))
      devices.emplace(graph.name(n), graph.device(n));
  }
  return devices;
}

}  // namespace

absl::StatusOr<Placed> PlaceNodes(Inlined inlined, const CompileContext& context) {
  const Stopwatch watch;
  Placed placed{std::move(inlined), {}, {}};
  placed.caller_devices = DevicesOfCallers(placed.graph);
  TENON_ASSIGN_OR_RETURN(
      placed.placement,
      Place(placed.graph, context.devices, context.kernels.registry(), context.options.placer));
  ApplyPlacement(placed.graph, placed.placement, context.options.pipeline.target.is_tensorflow());
  placed.times.place = watch.Milliseconds();
  return placed;
}

absl::StatusOr<std::vector<NodePlacement>> PlaceNewNodes(Graph& graph,
                                                         std::vector<NodePlacement> previous,
                                                         const CompileContext& context) {
  // An empty list would stand for the first placement.
  previous.resize(std::max(graph.num_node_ids(), 1));
  TENON_ASSIGN_OR_RETURN(
      std::vector<NodePlacement> placement,
      Place(graph, context.devices, context.kernels.registry(), context.options.placer, previous));
  ApplyPlacement(graph, placement);
  return placement;
}

}  // namespace tenon
