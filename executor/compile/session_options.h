// The options of a session: how it optimizes, places and runs its graphs.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "executor/clusters/cluster_options.h"
#include "executor/place/placer.h"
#include "executor/plan/base/inter_op.h"
#include "executor/plan/base/node_order.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "plugin/cpu/base/thread_places.h"
#include "plugin/kernels/file_access.h"

namespace tenon {

class StepWatch;  // executor/run/step_watch.h
class Workers;    // plugin/cpu/base/workers.h

struct SessionOptions {
  // CPU threads of the session; 0: DefaultThreads(). A negative number is INVALID_ARGUMENT
  // (Session::Create).
  int threads = 0;
  InterOp inter_op = InterOp::kOn;  // nodes of one run at the same time, with more than one thread
  // Of a pool of the session's own.
  Pin pin = Pin::kOff;
  Numa numa = Numa::kOff;
  NodeOrder order = NodeOrder::kAuto;  // answers do not depend on it
  uint64_t order_seed = 0;             // of NodeOrder::kSeed
  // The most compute streams of each plug-in's device with streams, 1 to kMostComputeStreams:
  // branches that do not need each other compute on several. INVALID_ARGUMENT for other numbers
  // (Session::Create).
  int device_streams = 1;
  // All plans tell what their steps are expected to take (Plan::step_costs_us), for reports. Plans
  // of small graphs tell it anyway.
  bool keep_costs = false;
  // 0: no optimization pass runs, and Session::FixVariables does nothing; above 0: the passes of
  // `pipeline` run.
  int opt_level = 1;
  PipelineOptions pipeline;
  PlacerOptions placer;
  ClusterOptions clusters;  // of devices that compile
  // The most plans that are kept for one set of feeds and fetches; each plan serves one list of
  // feed shapes. The plan that was used longest ago is dropped. A number below 1 counts as 1.
  int max_cached_plans = 64;
  // The most bytes that these plans hold (HeldBytes in session/plan_cache.h). The plans that were
  // used longest ago are dropped; the one that was used last stays, however large.
  int64_t max_plan_bytes = std::numeric_limits<int64_t>::max();
  double device_timeout_s = 60;  // the longest wait of the host for one callback or event, seconds
  uint64_t seed = 0;             // for random ops with both seeds 0; 0: the system chooses a seed
  // The limit of loop iterations in one run, summed over all loops. A run that needs more fails
  // with RESOURCE_EXHAUSTED.
  int64_t max_loop_passes = std::numeric_limits<int64_t>::max();
  FileAccess files;  // the files that kernels may read and write; by default none
  // CPU threads that the session shares with other sessions; their number takes the place of
  // `threads`. Null: the session has `threads` of its own. Runs at the same time share the threads.
  std::shared_ptr<Workers> workers;
  // For tests: sees each step of each run. Not owned; must outlive the session. Null: nobody.
  StepWatch* watch = nullptr;
};

}  // namespace tenon
