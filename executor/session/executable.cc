// A graph that is compiled for one pair of feeds and fetches, with a cache of plans by the shapes
// of feeds. Plans are built one at a time; runs share them.

#include "executor/session/executable.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "executor/compile/stopwatch.h"
#include "executor/plan/build_plan.h"
#include "executor/run/kernel_states.h"
#include "executor/run/run.h"
#include "executor/run/run_recorder.h"
#include "executor/session/config_proto.h"
#include "executor/session/ordinary_kernels.h"
#include "executor/session/spread_runs.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"
#include "graph/wire/wire.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/run_limits.h"
#include "plugin/kernels/session_state.h"
#include "plugin/kernels/variable.h"

namespace tenon {
namespace {

// The numbers of runs that a thread takes together, so that brief runs do not write one counter.
constexpr int64_t kStepsAtOnce = 64;

// A graph that cannot run has no lowered form; its reports are then about the optimized one.
const Graph& GraphThatRuns(const Compiled& compiled) {
  return compiled.runnable.ok() ? *compiled.runnable->graph : *compiled.optimized.graph;
}

// Whether a node may give a variable that it takes another shape, or hands the variable on to where
// nobody looks: what assigns, and what has handles among its results or calls functions.
bool MayReshape(const Graph& graph, NodeId n) {
  if (graph.op_name(n) == "AssignVariableOp") return true;
  for (int i = 0; i < graph.num_outputs(n); ++i) {
    const DataType type = graph.output_type({n, i});
    if (type == DataType::kResource || type == DataType::kVariant) return true;
  }
  return graph.facts(n).calls != CallKind::kNone;
}

// The feeds that are handles which no node of the graph may reshape. A plan for such a feed relies
// on the shape of the variable's value, and plans are looked for by that shape. A node that gave
// the variable another shape would make the plan wrong in the middle of its run.
std::vector<int> KeptHandles(const Runnable& runnable) {
  const Graph& graph = *runnable.graph;
  absl::flat_hash_map<Output, int> handles;
  for (size_t i = 0; i < runnable.request.feeds.size(); ++i) {
    const Output feed = runnable.request.feeds[i];
    if (graph.output_type(feed) == DataType::kResource) handles.emplace(feed, static_cast<int>(i));
  }
  if (handles.empty()) return {};
  for (const NodeId n : runnable.schedule.order) {
    for (const Output& input : graph.data_inputs(n)) {
      if (handles.contains(input) && MayReshape(graph, n)) handles.erase(input);
    }
  }
  for (const Output& fetch : runnable.request.fetches) handles.erase(fetch);
  std::vector<int> kept;
  for (const auto& [feed, i] : handles) kept.push_back(i);
  std::sort(kept.begin(), kept.end());
  return kept;
}

// The value of the variable that a handle stands for; an uninitialized tensor if there is none.
Tensor ValueBehind(const Tensor& handle) {
  if (handle.num_elements() != 1) return {};
  const auto* const variable = ObjectAs<Variable>(handle.ObjectAt(0));
  return variable == nullptr ? Tensor() : variable->Peek();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Executable>> Executable::Make(
    const Graph& graph, const std::vector<std::string>& feeds,
    const std::vector<std::string>& fetches, const SessionParts& parts) {
  auto kernels = std::make_unique<KernelStore>(parts.registry);
  TENON_ASSIGN_OR_RETURN(Compiled compiled,
                         Compile(graph, feeds, fetches,
                                 {parts.options, parts.devices, parts.host, *kernels, parts.fixed,
                                  OrdinaryKernelsOf(parts)}));
  std::unique_ptr<Executable> made(new Executable(std::move(compiled), std::move(kernels), parts));
  const PlacerOptions& placer = parts.options.placer;
  if (placer.spread && placer.spread_from == 0)
    made->spread_ = SpreadRuns::Make(*made, graph, feeds, fetches, parts);
  return made;
}

Executable::~Executable() = default;

Executable::Executable(Compiled compiled, std::unique_ptr<KernelStore> kernels,
                       const SessionParts& parts)
    : parts_(parts),
      own_states_(parts.states_live_longer ? std::make_unique<StatesOfOneGraph>(parts.states)
                                           : nullptr),
      compiled_(std::move(compiled)),
      kernels_(std::move(kernels)),
      constants_(GraphThatRuns(compiled_)),
      kept_handles_(compiled_.runnable.ok() ? KeptHandles(*compiled_.runnable)
                                            : std::vector<int>()),
      plans_(parts.options.max_cached_plans, parts.options.max_plan_bytes) {
  kernels_->DescribeWith([this] { return Surroundings(); });
  if (compiled_.runnable.ok())
    promises_.Note(*compiled_.runnable->graph, compiled_.runnable->schedule.order);
}

KernelSurroundings Executable::Surroundings() const {
  KernelSurroundings surroundings;
  surroundings.resources = &parts_.states.resources();
  surroundings.config_proto = ConfigProto(parts_.options, parts_.devices);
  WireWriter library(&surroundings.function_library);
  // Functions are field 1 of TensorFlow's FunctionDefLibrary.
  for (const FunctionEntry& function : compiled_.optimized.graph->functions())
    library.Bytes(1, function.wire);
  return surroundings;
}

absl::Span<const Tensor> Executable::ShapedBy(absl::Span<const Tensor> feeds, Kept& kept) const {
  if (kept_handles_.empty()) return feeds;
  kept.assign(feeds.begin(), feeds.end());
  for (const int i : kept_handles_) {
    if (Tensor value = ValueBehind(feeds[i]); value.initialized()) kept[i] = std::move(value);
  }
  return kept;
}

absl::StatusOr<std::shared_ptr<CachedPlan>> Executable::PlanFor(absl::Span<const Tensor> feeds) {
  Kept kept;
  const absl::Span<const Tensor> shaped = ShapedBy(feeds, kept);
  if (std::shared_ptr<CachedPlan> plan = plans_.Find(shaped, /*is_alone=*/false)) {
    hits_.fetch_add(1, std::memory_order_relaxed);
    return plan;
  }
  return BuildOnce(feeds, shaped, parts_.workers);
}

absl::StatusOr<std::shared_ptr<CachedPlan>> Executable::LonePlanFor(absl::Span<const Tensor> feeds,
                                                                    const CachedPlan& plan) {
  // What devices have prepared for a plan is not prepared twice.
  if (plan.is_brief || !plan.plan->devices.empty() || compiled_.clusters != nullptr ||
      !parts_.workers.is_crowded())
    return nullptr;
  Kept kept;
  const absl::Span<const Tensor> shaped = ShapedBy(feeds, kept);
  if (std::shared_ptr<CachedPlan> alone = plans_.Find(shaped, /*is_alone=*/true)) return alone;
  if (!plans_.HasRoomForAnother(plan)) return nullptr;
  return BuildOnce(feeds, shaped, lone_worker_);
}

absl::StatusOr<std::shared_ptr<CachedPlan>> Executable::BuildOnce(absl::Span<const Tensor> feeds,
                                                                  absl::Span<const Tensor> shaped,
                                                                  Workers& workers) {
  const bool is_alone = &workers == &lone_worker_;
  absl::MutexLock build(&build_mutex_);
  std::shared_ptr<CachedPlan> plan = plans_.Find(shaped, is_alone);
  if (plan != nullptr) return plan;  // another thread has built it meanwhile
  const Stopwatch watch;
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> built, Build(feeds, shaped, workers));
  if (builds_.fetch_add(1) == 0) plan_ms_ = watch.Milliseconds();
  bool dropped = false;
  std::shared_ptr<CachedPlan> added = plans_.Add(shaped, is_alone, std::move(built), &dropped);
  if (dropped) last_runs_.LetDroppedGo();
  return added;
}

absl::StatusOr<std::shared_ptr<const Plan>> Executable::Build(absl::Span<const Tensor> feeds,
                                                              absl::Span<const Tensor> shaped,
                                                              Workers& workers) {
  const Runnable& runnable = *compiled_.runnable;
  std::vector<FeedSpec> specs;
  for (const Tensor& t : feeds) specs.push_back({t.dtype(), t.shape()});
  for (const int i : kept_handles_) {
    if (shaped[i].dtype() != DataType::kResource) specs[i].variable_shape = shaped[i].shape();
  }
  const PlanInput input{.graph = *runnable.graph,
                        .calls = runnable.calls,
                        .schedule = runnable.schedule,
                        .fed_only = runnable.run.fed_only,
                        .devices = runnable.devices,
                        .feeds = runnable.request.feeds,
                        .feed_specs = specs,
                        .fetches = runnable.request.fetches,
                        .fetch_names = runnable.request.fetch_names,
                        .host = parts_.host,
                        .constants = constants_,
                        .kernels = *kernels_,
                        .promises = promises_,
                        .session = own_states_ == nullptr ? parts_.states : *own_states_,
                        .late = late_,
                        .workers = workers,
                        .inter_op = parts_.options.inter_op,
                        .device_timeout_s = parts_.options.device_timeout_s,
                        .order = parts_.options.order,
                        .order_seed = parts_.options.order_seed,
                        .device_streams = parts_.options.device_streams,
                        .keep_costs = parts_.options.keep_costs ||
                                      runnable.schedule.order.size() <= CachedPlan::kBriefNodes};
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, BuildPlan(input));
  return std::shared_ptr<const Plan>(std::move(plan));
}

absl::Status Executable::MakePlan(absl::Span<const Tensor> feeds) {
  TENON_RETURN_IF_ERROR(compiled_.runnable.status());
  TENON_RETURN_IF_ERROR(CheckFeeds(compiled_.runnable->feeds, feeds));
  return PlanFor(feeds).status();
}

absl::StatusOr<std::vector<Tensor>> Executable::Run(absl::Span<const Tensor> feeds,
                                                    RunRecorder* recorder,
                                                    const RunLimits* limits) {
  return spread_ != nullptr ? spread_->Run(feeds, recorder, limits)
                            : RunAsPlaced(feeds, recorder, limits);
}

absl::StatusOr<std::vector<Tensor>> Executable::RunAsPlaced(absl::Span<const Tensor> feeds,
                                                            RunRecorder* recorder,
                                                            const RunLimits* limits) {
  TENON_RETURN_IF_ERROR(compiled_.runnable.status());
  TENON_RETURN_IF_ERROR(CheckFeeds(compiled_.runnable->feeds, feeds));
  // Also while a plan is made: who first touches memory decides in which node it lies.
  const Workers::CallerPlace place(parts_.workers);
  absl::StatusOr<std::vector<Tensor>> values = RunOnce(feeds, recorder, limits);
  // Ends: each repetition takes one promise of a shape function away.
  while (!values.ok() && OtherPlansMayDo(values.status()))
    values = RunOnce(feeds, recorder, limits);
  // Whatever else went wrong: the caller asked for an answer until then.
  if (limits != nullptr && limits->is_late()) return limits->Check();
  return values;
}

bool Executable::OtherPlansMayDo(const absl::Status& status) {
  // No plan is built meanwhile: such a plan might rely on the wrong promise.
  absl::MutexLock build(&build_mutex_);
  if (!promises_.Disbelieve(*compiled_.runnable->graph, status)) return false;
  // Plans of before rely on the promise too.
  plans_.Clear();
  last_runs_.LetDroppedGo();
  return true;
}

RunContext Executable::ContextOf(int64_t step, RunRecording* recording, const RunLimits* limits,
                                 Workers& workers) const {
  return {.workers = &workers,
          .arenas = &parts_.arenas,
          .device_timeout_s = parts_.options.device_timeout_s,
          .step_id = step,
          .max_loop_passes = parts_.options.max_loop_passes,
          .recording = recording,
          .limits = limits,
          .watch = parts_.options.watch,
          .is_watched = recording != nullptr || parts_.options.watch != nullptr ||
                        (limits != nullptr && limits->has_deadline())};
}

absl::StatusOr<std::vector<Tensor>> Executable::RunAgain(std::unique_ptr<LastRuns::Run> last,
                                                         absl::Span<const Tensor> feeds,
                                                         const RunLimits* limits) {
  if (last->next_step == last->end_step) {
    last->next_step = parts_.next_step.fetch_add(kStepsAtOnce, std::memory_order_relaxed);
    last->end_step = last->next_step + kStepsAtOnce;
  }
  absl::StatusOr<std::vector<Tensor>> values =
      RunBriefly(*last->plan->plan, *last->frame, feeds,
                 ContextOf(last->next_step++, nullptr, limits, parts_.workers));
  last_runs_.Keep(std::move(last));
  return values;
}

absl::StatusOr<std::vector<Tensor>> Executable::RunOnce(absl::Span<const Tensor> feeds,
                                                        RunRecorder* recorder,
                                                        const RunLimits* limits) {
  // Handles stand for shapes that LastRuns does not look at.
  const bool may_keep = recorder == nullptr && kept_handles_.empty();
  if (may_keep && has_run_.load(std::memory_order_relaxed)) {
    if (std::unique_ptr<LastRuns::Run> last = last_runs_.Take(feeds)) {
      plans_.NoteUse(*last->plan);
      return RunAgain(std::move(last), feeds, limits);
    }
  }
  std::optional<RunRecording> recording;
  if (recorder != nullptr) recording.emplace(*recorder);
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<CachedPlan> cached, PlanFor(feeds));
  if (recording.has_value()) recording->BeginRun(cached->plan);
  if (may_keep && cached->is_brief && has_run_.load(std::memory_order_relaxed)) {
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, cached->frames.Take(*cached->plan));
    return RunAgain(std::make_unique<LastRuns::Run>(cached, std::move(frame)), feeds, limits);
  }
  Workers* workers = &parts_.workers;
  // The run takes a place in the session's pool all the same.
  std::optional<Workers::Runner> runner;
  if (!recording.has_value()) {
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<CachedPlan> alone, LonePlanFor(feeds, *cached));
    if (alone != nullptr) {
      runner.emplace(parts_.workers);
      workers = &lone_worker_;
      cached = std::move(alone);
    }
  }
  const RunContext context =
      ContextOf(parts_.next_step.fetch_add(1, std::memory_order_relaxed),
                recording.has_value() ? &*recording : nullptr, limits, *workers);
  const auto run = [&] {
    absl::StatusOr<std::vector<Tensor>> values =
        RunPlan(*cached->plan, cached->frames, feeds, context);
    if (recording.has_value()) recording->EndRun(values.ok());
    return values;
  };
  // Only first runs are timed: later ones are spared the two looks at the clock.
  if (has_run_.load(std::memory_order_relaxed)) return run();
  const Stopwatch watch;
  absl::StatusOr<std::vector<Tensor>> values = run();
  const double time = watch.Milliseconds();
  if (!has_run_.exchange(true)) first_run_ms_ = time;
  return values;
}

Times Executable::times() const {
  const CompileTimes& compile = compiled_.optimized.times;
  return {.optimize = compile.optimize,
          .place = compile.place,
          .plan = plan_ms_,
          .first_run = first_run_ms_};
}

MemoryReport Executable::memory() const {
  MemoryReport report;
  report.weights_bytes = constants_.bytes();
  if (const std::shared_ptr<const Plan> plan = last_plan()) {
    report.arena_bytes = static_cast<int64_t>(plan->arena_bytes);
    report.arena_lower_bound_bytes = static_cast<int64_t>(plan->arena_lower_bound);
  }
  return report;
}

std::vector<PluginKernelReport> Executable::plugin_kernels() const {
  std::vector<PluginKernelReport> reports;
  for (const auto& [n, kernel] : kernels_->Computed()) {
    const std::string_view node = GraphThatRuns(compiled_).name(n);
    reports.push_back({std::string(node), kernel->op, kernel->plugin});
  }
  return reports;
}

PlanCacheReport Executable::plan_cache() const {
  return {.builds = builds_.load(),
          .hits = hits_.load() + last_runs_.hits(),
          .plans = plans_.size(),
          .max_plans = plans_.max_size(),
          .late_builds = late_.made.load(),
          .late_hits = late_.reused.load(),
          .max_late = PreparationCache::kMaxPrepared};
}

}  // namespace tenon
