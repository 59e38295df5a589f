// One (feeds, fetches) pair of a session: the compiled graph, its plans by input signature, and
// runs of them. Private to executor/.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "executor/compile/compile.h"
#include "executor/place/kernel_store.h"
#include "executor/plan/base/const_store.h"
#include "executor/run/shape_promises.h"
#include "executor/run/slow_steps.h"
#include "executor/session/plan_cache.h"
#include "executor/session/reports.h"
#include "executor/session/session.h"

namespace tenon {

// What an executable borrows from its session.
struct SessionParts {
  const SessionOptions& options;
  absl::Span<Device* const> devices;
  Device* host;
  const KernelRegistry& registry;
  Workers& workers;
  SessionState& states;
  std::atomic<int64_t>& next_step;
  const FixedVariables* fixed = nullptr;  // of the graph that is compiled
};

// Thread-safe.
class Executable {
 public:
  // Errors are those of Compile.
  static absl::StatusOr<std::unique_ptr<Executable>> Make(const Graph& graph,
                                                          const std::vector<std::string>& feeds,
                                                          const std::vector<std::string>& fetches,
                                                          const SessionParts& parts);

  // The values of the fetches, in host memory. A run is made again if a plug-in's shape function
  // proves wrong, so that the result is right.
  absl::StatusOr<std::vector<Tensor>> Run(const std::vector<Tensor>& feeds, RunRecorder* recorder);

  const Optimized& optimized() const { return compiled_.optimized; }
  Times times() const;
  MemoryReport memory() const;
  PlanCacheReport plan_cache() const;
  std::shared_ptr<const Plan> last_plan() const { return plans_.last(); }
  std::vector<PluginKernelReport> plugin_kernels() const;

 private:
  Executable(Compiled compiled, std::unique_ptr<KernelStore> kernels, const SessionParts& parts);

  KernelSurroundings Surroundings() const;
  absl::StatusOr<std::shared_ptr<CachedPlan>> PlanFor(const std::vector<Tensor>& feeds);
  absl::StatusOr<std::shared_ptr<const Plan>> Build(const std::vector<Tensor>& feeds);
  absl::StatusOr<std::vector<Tensor>> RunOnce(const std::vector<Tensor>& feeds,
                                              RunRecorder* recorder);
  bool OtherPlansMayDo(const absl::Status& status);

  const SessionParts parts_;
  const Compiled compiled_;
  const std::unique_ptr<KernelStore> kernels_;
  ConstStore constants_;
  ShapePromises promises_;
  LatePreparations late_;
  PlanCache plans_;
  std::atomic<int64_t> hits_{0}, builds_{0};
  std::atomic<double> plan_ms_{0}, first_run_ms_{0};
  std::atomic<bool> has_run_{false};
  absl::Mutex build_mutex_;  // one plan is built at a time
};

}  // namespace tenon
