// A graph made ready to run: placed, optimized once per set of feeds and fetches, planned once per
// input signature.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/placer.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "grappler_lite/pipeline.h"
#include "plugin/file_access.h"

namespace tenon {

struct SessionOptions {
  int threads = 0;    // CPU threads in all; 0: as many as the machine has
  int opt_level = 1;  // 0: no pass at all
  PipelineOptions pipeline;
  PlacerOptions placer;
  int max_cached_plans = 64;     // per set of feeds and fetches; the least recently used goes
  double device_timeout_s = 60;  // a plug-in's callback or event that takes longer
  uint64_t seed = 0;             // of random ops whose seeds are both 0; 0: from the system
  // Passes that the loops of a run may make, all together; one more is RESOURCE_EXHAUSTED.
  int64_t max_loop_passes = std::numeric_limits<int64_t>::max();
  FileAccess files;  // what kernels may read and write
};

struct Times {  // milliseconds
  double optimize = 0, place = 0, plan = 0, first_run = 0;
};

struct MemoryReport {
  int64_t arena_bytes = 0;
  int64_t arena_lower_bound_bytes = 0;  // the largest sum of simultaneously live buffers
  int64_t weights_bytes = 0;            // constants in memory, packed ones included
};

// Plans, one per input signature; and preparations of kernels whose input shapes only a run tells,
// one per step and shapes. Of both the least recently used goes when there are `max_*` (`max_late`
// for each step).
struct PlanCacheReport {
  int64_t builds = 0, hits = 0, plans = 0, max_plans = 0;
  int64_t late_builds = 0, late_hits = 0, max_late = 0;
};

// What was made of one (feeds, fetches) pair.
class Executable;
class RunRecorder;  // executor/run_recorder.h

// Thread-safe: many runs at once, each with its own frame.
class Session {
 public:
  using NamedTensor = std::pair<std::string, Tensor>;

  static absl::StatusOr<std::unique_ptr<Session>> Create(Graph graph, std::vector<Device*> devices,
                                                         SessionOptions options);
  ~Session();

  // Prepares feeds ("node" or "node:port") and fetches for many runs: optimizes and places. Cached;
  // the pointer lives as long as the session. Errors name the feed or fetch, or the Placeholder
  // that is missing (FAILED_PRECONDITION).
  absl::StatusOr<Executable*> Prepare(const std::vector<std::string>& feeds,
                                      const std::vector<std::string>& fetches);

  // One run. Values of the fetches in order, in host memory. Feed dtypes and shapes are checked
  // against the graph's. `recorder`, if there is one, learns when each step ran.
  absl::StatusOr<std::vector<Tensor>> Run(Executable* executable, const std::vector<Tensor>& feeds,
                                          RunRecorder* recorder = nullptr);
  // Both in one.
  absl::StatusOr<std::vector<Tensor>> Run(const std::vector<NamedTensor>& feeds,
                                          const std::vector<std::string>& fetches);

  // The graph as given.
  const Graph& graph() const;
  // What its kernels may read and write.
  const FileAccess& files() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Reports of an executable; stable after its first run.
const Graph& OptimizedGraph(const Executable& e);
// The same as it is written: each node asks for the device that it asked for in `original`, new
// nodes on the CPU for none.
Graph GraphToWrite(const Executable& e, const Graph& original);
const PipelineReport& OptimizerReport(const Executable& e);
const std::vector<NodePlacement>& PlacementReport(
    const Executable& e);  // by node id of the optimized graph
const Times& TimesReport(const Executable& e);
MemoryReport MemoryOf(const Executable& e);
PlanCacheReport PlanCacheOf(const Executable& e);
// The plan for the last signature, one line per step: order, stream, events, buffer offsets,
// in-place reuse.
std::string PlanText(const Executable& e);
// Copies between devices that the plan makes: producer, from, to, bytes (-1: unknown).
struct CopyReport {
  std::string tensor;
  std::string from, to;
  int64_t bytes;
};
std::vector<CopyReport> CopiesOf(const Executable& e);

}  // namespace tenon
