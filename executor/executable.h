// One (feeds, fetches) pair of a session: the optimized, placed graph and its plans by input
// signature. Private to the executor.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "executor/call_sites.h"
#include "executor/const_store.h"
#include "executor/kernel_store.h"
#include "executor/plan.h"
#include "executor/schedule.h"
#include "executor/session.h"
#include "executor/shape_promises.h"
#include "executor/slow_steps.h"

namespace tenon {

// What an executable borrows from its session.
struct SessionParts {
  const SessionOptions& options;
  absl::Span<Device* const> devices;
  Device* host;
  Workers& workers;
  SessionState& states;
  std::atomic<int64_t>& next_step;
};

class Executable {
 public:
  // Places, optimizes, checks that everything that the fetches need can be run.
  static absl::StatusOr<std::unique_ptr<Executable>> Make(const Graph& graph,
                                                          const std::vector<std::string>& feeds,
                                                          const std::vector<std::string>& fetches,
                                                          const SessionParts& parts);

  // Several times if a plug-in's shape function proves wrong, so that the result is right.
  absl::StatusOr<std::vector<Tensor>> Run(const std::vector<Tensor>& feeds, RunRecorder* recorder);

  // Optimized and placed; the functions that the passes left as they are in the file.
  const Graph& graph() const { return before_lowering_ ? before_lowering_->graph : graph_; }
  const PipelineReport& pipeline() const { return pipeline_; }
  const std::vector<NodePlacement>& placement() const {
    return before_lowering_ ? before_lowering_->placement : placement_;
  }
  const Times& times() const { return times_; }
  MemoryReport memory() const;
  PlanCacheReport plan_cache() const;
  std::shared_ptr<const Plan> last_plan() const;

 private:
  struct CachedPlan {
    std::vector<Shape> shapes;
    std::shared_ptr<const Plan> plan;
    std::atomic<int64_t> used{0};
  };
  Executable(const Graph& graph, const SessionParts& parts)
      : graph_(graph),
        parts_(parts),
        constants_(graph_),
        kernels_([this] { return Surroundings(); }) {}

  KernelSurroundings Surroundings() const;

  size_t max_plans() const { return std::max(parts_.options.max_cached_plans, 1); }
  absl::Status Resolve(const std::vector<std::string>& feeds,
                       const std::vector<std::string>& fetches);
  PipelineInput InputOfPasses(NodeEvaluator& evaluator, const KernelOracle& kernels) const;
  absl::Status InlineCalls();
  absl::Status PlaceGraph();
  absl::Status Optimize();
  absl::Status PlaceAgain(absl::Span<const std::string_view> before);
  absl::Status MakeRunnable();
  absl::Status LowerFunctions();
  absl::Status FindOrder();
  absl::Status DropUnknownOps();
  void NoteFeedsThatStandForNodes();
  absl::Status CheckKernels();
  std::string NoKernelText(NodeId n) const;
  absl::Status DescribeFeeds();
  absl::Status CheckFeeds(const std::vector<Tensor>& feeds) const;
  std::shared_ptr<const Plan> Cached(const std::vector<Tensor>& feeds);
  absl::StatusOr<std::shared_ptr<const Plan>> PlanFor(const std::vector<Tensor>& feeds);
  absl::StatusOr<std::shared_ptr<const Plan>> Build(const std::vector<Tensor>& feeds);
  absl::StatusOr<std::vector<Tensor>> RunOnce(const std::vector<Tensor>& feeds,
                                              RunRecorder* recorder);
  bool OtherPlansMayDo(const absl::Status& status);

  Graph graph_;  // that is run
  SessionParts parts_;
  std::vector<std::string> feed_names_, fetch_names_;
  std::vector<Output> feeds_, fetches_;
  std::vector<bool> stands_for_node_;  // by feed: who waits for its node waits for nothing
  std::vector<DataType> feed_types_;
  std::vector<PartialShape> feed_shapes_;
  std::vector<NodePlacement> placement_;
  // What functional nodes of the graph ask for, by name: their bodies' nodes inherit it.
  absl::flat_hash_map<std::string, std::string> function_devices_;
  struct BeforeLowering {
    Graph graph;
    std::vector<NodePlacement> placement;
  };
  std::unique_ptr<BeforeLowering> before_lowering_;  // null: there was nothing to lower
  CallSites calls_;
  std::vector<Device*> node_devices_;
  std::vector<NodeId> order_;  // what the fetches need, producers first
  absl::Status may_run_;       // why a plan cannot be made
  Schedule schedule_;
  std::vector<bool> fed_only_;
  PipelineReport pipeline_;
  Times times_;
  ConstStore constants_;
  KernelStore kernels_;
  ShapePromises promises_;

  absl::Mutex build_mutex_;  // one plan is built at a time
  std::atomic<bool> has_run_{false};
  std::atomic<int64_t> clock_{0}, hits_{0}, builds_{0};
  LatePreparations late_;
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<CachedPlan>> plans_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
