// The compiled form of one (feeds, fetches) pair of a session: the graph, its plans by input
// signature, and their runs. Private to executor/.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "executor/compile/compile.h"
#include "executor/place/kernel_store.h"
#include "executor/plan/base/const_store.h"
#include "executor/run/shape_promises.h"
#include "executor/run/slow_steps.h"
#include "executor/session/last_runs.h"
#include "executor/session/plan_cache.h"
#include "executor/session/reports.h"
#include "executor/session/session.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/session_state.h"

namespace tenon {

class ArenaPool;   // executor/run/arena_pool.h
class SpreadRuns;  // executor/session/spread_runs.h

// The parts of a session that an executable borrows. All of them outlive the executable.
struct SessionParts {
  const SessionOptions& options;
  absl::Span<Device* const> devices;
  Device* host;  // one of `devices`
  const KernelRegistry& registry;
  Workers& workers;
  SessionState& states;
  ArenaPool& arenas;
  // The lowest number that no run can have yet. Threads take 64 numbers at once for brief plans.
  std::atomic<int64_t>& next_step;
  const FixedVariables* fixed = nullptr;  // of the graph that is compiled; null: none are fixed
  // Whether executables go before `states`: what kernels pack of constants is then each one's own.
  bool states_live_longer = false;
};

// Thread-safe: runs go on at once; one plan is built at a time.
class Executable {
 public:
  // Compiles. `graph` need not outlive the executable. Errors are those of Compile. An executable
  // that cannot run here, as its graph is optimized for TensorFlow, is no error: Run fails then.
  static absl::StatusOr<std::unique_ptr<Executable>> Make(const Graph& graph,
                                                          const std::vector<std::string>& feeds,
                                                          const std::vector<std::string>& fetches,
                                                          const SessionParts& parts);
  ~Executable();

  // Returns the values of the fetches in order, in host memory, as RunPlan does. `feeds` are in the
  // order that Make was given. Builds a plan if there is none for these shapes. Errors are those of
  // CheckFeeds, BuildPlan and RunPlan, and that of Compiled::runnable. `recorder` may be null. If a
  // plug-in's shape function proves wrong, the run is repeated with a plan that does not rely on
  // it. That happens only if no node of the run has a lasting effect (ShapePromises); the recorder
  // gets each repetition. `limits` may be null, which stands for the defaults. DEADLINE_EXCEEDED if
  // the run has not ended at its deadline, also if it then ends with values. CANCELLED if the run
  // was cancelled and then comes to a place where limits are checked (RunPlan says where); a run
  // that comes to none goes on to its end.
  //
  // With PlacerOptions::spread, runs at the same time may be on different devices, by placements of
  // their own; reports are about the first placement.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> feeds, RunRecorder* recorder,
                                          const RunLimits* limits = nullptr);
  // Run, always by the placement of this executable.
  absl::StatusOr<std::vector<Tensor>> RunAsPlaced(absl::Span<const Tensor> feeds,
                                                  RunRecorder* recorder, const RunLimits* limits);

  // Makes the plan of a run with these feeds, or finds it, and runs nothing. It counts as the plan
  // that was used last. Errors are those of Run before the run begins.
  absl::Status MakePlan(absl::Span<const Tensor> feeds);

  // The reports of executor/session/reports.h, which says what they hold.
  const Optimized& optimized() const { return compiled_.optimized; }
  // The clusters of devices that compile; null if there are none.
  const ClusterSet* clusters() const { return compiled_.clusters.get(); }
  Times times() const;
  MemoryReport memory() const;
  PlanCacheReport plan_cache() const;
  // The plan that was used last, second plans (PlanCacheReport) left out. Null before the first
  // plan is built, and after plans were dropped for a wrong shape function until the next one is
  // built.
  std::shared_ptr<const Plan> last_plan() const { return plans_.last(); }
  std::vector<PluginKernelReport> plugin_kernels() const;

 private:
  Executable(Compiled compiled, std::unique_ptr<KernelStore> kernels, const SessionParts& parts);

  KernelSurroundings Surroundings() const;
  // The plan for these feeds, built if the cache has none.
  absl::StatusOr<std::shared_ptr<CachedPlan>> PlanFor(absl::Span<const Tensor> feeds);
  // Another plan for these feeds, for one thread, where a run had better use no more: no other
  // thread will help, and `plan` cuts its kernels into tiles in vain. Null where the run had better
  // use `plan`, and where the cache has no room for both.
  absl::StatusOr<std::shared_ptr<CachedPlan>> LonePlanFor(absl::Span<const Tensor> feeds,
                                                          const CachedPlan& plan);
  // The feeds, but in the place of handles in kept_handles_ the variables' values, which `kept`
  // then keeps.
  using Kept = absl::InlinedVector<Tensor, 16>;
  absl::Span<const Tensor> ShapedBy(absl::Span<const Tensor> feeds, Kept& kept) const;
  // `workers` are those of the session or lone_worker_.
  absl::StatusOr<std::shared_ptr<CachedPlan>> BuildOnce(absl::Span<const Tensor> feeds,
                                                        absl::Span<const Tensor> shaped,
                                                        Workers& workers);
  absl::StatusOr<std::shared_ptr<const Plan>> Build(absl::Span<const Tensor> feeds,
                                                    absl::Span<const Tensor> shaped,
                                                    Workers& workers);
  // A run that is not repeated.
  absl::StatusOr<std::vector<Tensor>> RunOnce(absl::Span<const Tensor> feeds, RunRecorder* recorder,
                                              const RunLimits* limits);
  RunContext ContextOf(int64_t step, RunRecording* recording, const RunLimits* limits,
                       Workers& workers) const;
  // A run of a brief plan, in the frame of `last`, which is then kept for the thread's next run.
  absl::StatusOr<std::vector<Tensor>> RunAgain(std::unique_ptr<LastRuns::Run> last,
                                               absl::Span<const Tensor> feeds,
                                               const RunLimits* limits);
  // Whether the error shows that a shape function was wrong. Drops all plans then, so that the next
  // run gets one without it.
  bool OtherPlansMayDo(const absl::Status& status);

  const SessionParts parts_;
  const std::unique_ptr<SessionState> own_states_;  // null: those of parts_ do
  Workers lone_worker_{1};
  const Compiled compiled_;
  const std::unique_ptr<KernelStore> kernels_;
  // Shared by all plans.
  ConstStore constants_;
  // The feeds that are handles of variables that keep their shapes in a run. Plans count on these
  // shapes, and are kept by them.
  const std::vector<int> kept_handles_;
  ShapePromises promises_;
  LatePreparations late_;
  PlanCache plans_;
  LastRuns last_runs_;
  std::atomic<int64_t> hits_{0}, builds_{0};
  std::atomic<double> plan_ms_{0}, first_run_ms_{0};
  std::atomic<bool> has_run_{false};
  absl::Mutex build_mutex_;             // one plan is built at a time
  std::unique_ptr<SpreadRuns> spread_;  // null: all runs have the one placement
};

}  // namespace tenon
