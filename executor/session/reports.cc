#include "executor/session/reports.h"

#include "executor/clusters/cluster_set.h"
#include "executor/plan/plan_text.h"
#include "executor/session/executable.h"

namespace tenon {

const Graph& OptimizedGraph(const Executable& e) { return *e.optimized().graph; }

Graph GraphToWrite(const Executable& e, const Graph& original) {
  Graph graph = *e.optimized().graph;
  const std::vector<NodePlacement>& placement = *e.optimized().placement;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const NodeId before = original.FindNode(graph.name(n));
    const Device* device = placement[n].device;
    // Nodes of the file keep the strings of the file. A node that passes have added names its
    // device, but not the host.
    if (before != kNoNode) {
      graph.SetDevice(n, original.device(before));
    } else if (placement[n].reason == PlaceCode::kUnavailable) {
      graph.SetDevice(n, placement[n].requested);
    } else if (device != nullptr && device->is_host()) {
      graph.SetDevice(n, "");
    }
  }
  return graph;
}

const ClusterSet* ClustersOf(const Executable& e) { return e.clusters(); }
std::vector<NodeId> CompiledNodes(const Executable& e) {
  std::vector<NodeId> nodes;
  const Graph& graph = OptimizedGraph(e);
  for (NodeId n = 0; e.clusters() != nullptr && n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && e.clusters()->map().of[n] >= 0 && graph.op_name(n) != "Const")
      nodes.push_back(n);
  }
  return nodes;
}

const PipelineReport& OptimizerReport(const Executable& e) { return e.optimized().pipeline; }
const std::vector<NodePlacement>& PlacementReport(const Executable& e) {
  return *e.optimized().placement;
}
Times TimesReport(const Executable& e) { return e.times(); }
MemoryReport MemoryOf(const Executable& e) { return e.memory(); }
PlanCacheReport PlanCacheOf(const Executable& e) { return e.plan_cache(); }

std::string PlanText(const Executable& e) {
  const std::shared_ptr<const Plan> plan = e.last_plan();
  return plan == nullptr ? "" : PlanToText(*plan);
}

absl::Status MakePlan(Executable& e, absl::Span<const Tensor> feeds) { return e.MakePlan(feeds); }

LaneSchedule LanesOf(const Executable& e, int threads) {
  const std::shared_ptr<const Plan> plan = e.last_plan();
  return plan == nullptr ? LaneSchedule() : ScheduleOnLanes(plan, threads);
}

std::vector<PluginKernelReport> PluginKernelsThatRan(const Executable& e) {
  return e.plugin_kernels();
}

std::vector<CopyReport> CopiesOf(const Executable& e) {
  std::vector<CopyReport> reports;
  const std::shared_ptr<const Plan> plan = e.last_plan();
  if (plan == nullptr) return reports;
  for (const PlanCopy& copy : plan->copies) {
    reports.push_back({plan->graph->OutputName(copy.value), copy.from->short_name(),
                       copy.to->short_name(), copy.bytes});
  }
  return reports;
}

}  // namespace tenon
