// Reports on an executable: its passes, the placement of its nodes, the content of its plans.
// References live as long as the executable. All calls are thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/place/placer.h"
#include "executor/session/lane_schedule.h"
#include "graph/ir/graph.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

class ClusterSet;  // executor/clusters/cluster_set.h
class Executable;

// Durations of stages in milliseconds (CompileTimes for the first two). `plan`: building the first
// plan. `first_run`: the run that ended first, failed or not, after its plan was there. 0 before
// they happen.
struct Times {
  double optimize = 0, place = 0, plan = 0, first_run = 0;
};

// Bytes in memory. `arena_bytes` is the size of one arena of the plan that was used last; runs at
// once have one each. The sizes of arenas are 0 while there is no plan: before the first is built,
// and after plans were dropped for a wrong shape function.
struct MemoryReport {
  int64_t arena_bytes = 0;
  int64_t arena_lower_bound_bytes = 0;  // ArenaLayout::lower_bound
  int64_t weights_bytes = 0;            // constants that runs read on the host (ConstStore::bytes)
};

// Counts of plans, and of late preparations, one for each step and list of input shapes and
// deciding values that only a run knows. A list of feed shapes has one plan, and may have a second
// one for runs that find the session's threads taken (Workers::is_crowded). `builds` and
// `late_builds` count what was made so far, `hits` and `late_hits` how often a run, or MakePlan,
// found what it needed; to find a second plan is no further hit. A run that waits while another run
// builds its plan counts in neither. `plans`: the plans that the cache holds now, second ones too,
// at most `max_plans`. The cache of a step holds at most `max_late` preparations. Both drop the
// least recently used entry; plans also go where they hold more than SessionOptions::max_plan_bytes
// together. Reports on the plan that was used last leave second plans out.
struct PlanCacheReport {
  int64_t builds = 0, hits = 0, plans = 0, max_plans = 0;
  int64_t late_builds = 0, late_hits = 0, max_late = 0;
};

// A copy between devices: of a value, by each run that reaches the copy; or of a constant, once,
// while this plan or an earlier one was built.
struct CopyReport {
  std::string tensor;
  std::string from, to;  // short names of devices
  int64_t bytes;         // -1: unknown
};

// A kernel of a plug-in that some run has called to compute a node, whether or not it failed.
struct PluginKernelReport {
  std::string node, op, plugin;  // `plugin` is the path of the file
};

// The graph after the passes, before calls and loops are lowered.
const Graph& OptimizedGraph(const Executable& e);
// A copy of the optimized graph in the form that is written to a file. A node whose name `original`
// has gets the device string of the node of that name. A new node, such as one from the body of a
// function, gets the device that it asks for if there is no such device here; else an empty string
// if it is on the CPU, and the name of its device if it is on another.
Graph GraphToWrite(const Executable& e, const Graph& original);
// The passes that ran, with their rewrites and times, and those that were skipped.
const PipelineReport& OptimizerReport(const Executable& e);
// The device and the reason of each node, by node id of the optimized graph.
const std::vector<NodePlacement>& PlacementReport(const Executable& e);
// The clusters of nodes that devices compile, by node id of the optimized graph; null if there are
// none. Lives as long as the executable.
const ClusterSet* ClustersOf(const Executable& e);
// Nodes of clusters, without constants, in the order of their ids in the optimized graph.
std::vector<NodeId> CompiledNodes(const Executable& e);
Times TimesReport(const Executable& e);
MemoryReport MemoryOf(const Executable& e);
PlanCacheReport PlanCacheOf(const Executable& e);
// The plan that was used last, in the form of PlanToText: order, streams, offsets of buffers, reuse
// in place. Empty while there is no plan (MemoryReport says when).
std::string PlanText(const Executable& e);
// Makes the plan of a run with these feeds, which are in the order of Session::Prepare, and runs
// nothing: the reports are then about this plan. Errors are those of Session::Run.
absl::Status MakePlan(Executable& e, absl::Span<const Tensor> feeds);
// Where the steps of the plan that was used last would run on this number of threads, by their
// estimates. Fewer than 1 thread counts as 1. Without SessionOptions::keep_costs the times
// of a plan of more than 256 nodes are 0. LaneSchedule::plan is null while there is no plan.
LaneSchedule LanesOf(const Executable& e, int threads);
// The copies of the plan that was used last. Empty while there is no plan.
std::vector<CopyReport> CopiesOf(const Executable& e);
// In the order of node ids of the graph that runs, in which calls and loops are lowered: a node may
// not be in OptimizedGraph.
std::vector<PluginKernelReport> PluginKernelsThatRan(const Executable& e);

}  // namespace tenon
