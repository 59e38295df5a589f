// The stage Clustered: groups of nodes on devices that compile become one node each.
#include <utility>
#include <vector>

#include "executor/clusters/cluster_op.h"
#include "executor/clusters/cluster_set.h"
#include "executor/clusters/extract_clusters.h"
#include "executor/clusters/find_clusters.h"
#include "executor/compile/stages.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

bool AnyCompiles(absl::Span<const NodePlacement> placement) {
  for (const NodePlacement& p : placement) {
    if (p.device != nullptr && p.device->compiles()) return true;
  }
  return false;
}

// What is in no cluster runs on the host.
std::vector<NodePlacement> PlaceRestOnHost(std::vector<NodePlacement> placement, Device* host,
                                           Graph& graph) {
  placement.resize(graph.num_node_ids());
  const std::string name = host->full_name();
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    NodePlacement& p = placement[n];
    if (!graph.alive(n) || (p.device != nullptr && !p.device->compiles())) continue;
    p.device = host;
    p.op = graph.op_name(n);
    p.requested.clear();
    graph.SetDevice(n, name);
  }
  return placement;
}

}  // namespace

absl::StatusOr<Clustered> FormClusters(const Optimized& optimized, const CompileContext& context) {
  Clustered clustered{optimized, nullptr};
  if (!AnyCompiles(*optimized.placement)) return clustered;
  TENON_RETURN_IF_ERROR(RegisterClusterOp());
  TENON_ASSIGN_OR_RETURN(const RunSet run, FindRunSet(*optimized.graph, optimized.request));
  TENON_ASSIGN_OR_RETURN(std::vector<NodeId> order, OrderOf(*optimized.graph, run));
  std::vector<bool> runs(optimized.graph->num_node_ids());
  for (const NodeId n : order) runs[n] = run.Runs(n);
  FoundClusters found = FindClusters({optimized.graph, *optimized.placement, order, runs,
                                      optimized.request.feeds, optimized.request.fetches});
  clustered.clusters =
      std::make_shared<ClusterSet>(std::move(found), context.options.clusters, context.ordinary);
  auto graph = std::make_shared<Graph>(*optimized.graph);
  TENON_RETURN_IF_ERROR(
      clustered.clusters->Extract(context.host->full_name(), *graph, clustered.request.fetches));
  clustered.placement = std::make_shared<const std::vector<NodePlacement>>(
      PlaceRestOnHost(*optimized.placement, context.host, *graph));
  clustered.graph = std::move(graph);
  return clustered;
}

}  // namespace tenon
