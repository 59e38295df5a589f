// Reports on an executable: its passes, the placement of its nodes, the content of its plans.
// Reports are stable after the first run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/place/placer.h"
#include "graph/ir/graph.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

class Executable;

struct Times {  // milliseconds
  double optimize = 0, place = 0, plan = 0, first_run = 0;
};

struct MemoryReport {
  int64_t arena_bytes = 0;
  int64_t arena_lower_bound_bytes = 0;  // the largest sum of simultaneously live buffers
  int64_t weights_bytes = 0;            // constants in memory, packed ones included
};

// The numbers of plans (one for each set of feed shapes) and of late preparations (one for each
// step and set of input shapes that is known only in a run). The cache of plans holds at most
// `max_plans`, the cache of a step at most `max_late`; both drop the least recently used entry.
struct PlanCacheReport {
  int64_t builds = 0, hits = 0, plans = 0, max_plans = 0;
  int64_t late_builds = 0, late_hits = 0, max_late = 0;
};

// One copy between devices that a plan makes.
struct CopyReport {
  std::string tensor;
  std::string from, to;
  int64_t bytes;  // -1: unknown
};

// A kernel of a plug-in that has computed a node so far.
struct PluginKernelReport {
  std::string node, op, plugin;
};

const Graph& OptimizedGraph(const Executable& e);
// The optimized graph in the form that is written to a file: a node asks for the device that it
// asks for in `original`; a new node on the CPU asks for none.
Graph GraphToWrite(const Executable& e, const Graph& original);
const PipelineReport& OptimizerReport(const Executable& e);
// By node id of the optimized graph.
const std::vector<NodePlacement>& PlacementReport(const Executable& e);
Times TimesReport(const Executable& e);
MemoryReport MemoryOf(const Executable& e);
PlanCacheReport PlanCacheOf(const Executable& e);
// The plan for the last signature, one line per step: order, stream, events, buffer offsets,
// in-place reuse.
std::string PlanText(const Executable& e);
// The copies of the plan for the last signature.
std::vector<CopyReport> CopiesOf(const Executable& e);
std::vector<PluginKernelReport> PluginKernelsThatRan(const Executable& e);

}  // namespace tenon
