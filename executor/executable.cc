#include "executor/executable.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "executor/body_optimizer.h"
#include "executor/config_proto.h"
#include "executor/evaluator.h"
#include "executor/lowering/call_inliner.h"
#include "executor/lowering/lowering.h"
#include "executor/plan_builder.h"
#include "executor/run_recorder.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"
#include "graph/wire.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {
namespace {

// Before this GraphDef version, a Placeholder's shape [] meant that the shape is not known.
constexpr int kScalarPlaceholders = 24;

class Stopwatch {
 public:
  double Milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

absl::Status Named(std::string_view role, std::string_view name, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(role, " '", name, "': ", status.message()));
}

absl::StatusOr<Output> ResolveFetch(const Graph& graph, std::string_view name) {
  absl::StatusOr<Output> output = graph.ParseOutput(name);
  if (!output.ok()) {
    // A node without outputs can be fetched to run it.
    const NodeId n = graph.FindNode(name);
    if (n != kNoNode && graph.num_outputs(n) == 0) return Output{n, kControlPort};
    return Named("fetch", name, output.status());
  }
  if (!output->is_control() && graph.num_outputs(output->node) == 0) output->port = kControlPort;
  if (!output->is_control() && output->port >= graph.num_outputs(output->node)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "fetch '", name, "': node '", graph.name(output->node), "' (", graph.op_name(output->node),
        ") has ", graph.num_outputs(output->node), " outputs"));
  }
  return output;
}

}  // namespace

KernelSurroundings Executable::Surroundings() const {
  KernelSurroundings surroundings;
  surroundings.resources = &parts_.states.resources();
  surroundings.config_proto = ConfigProto(parts_.options, parts_.devices);
  WireWriter library(&surroundings.function_library);
  for (const FunctionEntry& function : graph().functions()) library.Bytes(1, function.wire);
  return surroundings;
}

absl::StatusOr<std::unique_ptr<Executable>> Executable::Make(
    const Graph& graph, const std::vector<std::string>& feeds,
    const std::vector<std::string>& fetches, const SessionParts& parts) {
  auto e = std::unique_ptr<Executable>(new Executable(graph, parts));
  TENON_RETURN_IF_ERROR(e->Resolve(feeds, fetches));
  TENON_RETURN_IF_ERROR(e->FindOrder());  // before anything is spent: are all placeholders fed?
  TENON_RETURN_IF_ERROR(e->DropUnknownOps());
  e->NoteFeedsThatStandForNodes();
  e->pipeline_.nodes_before = e->pipeline_.nodes_after = e->graph_.num_nodes();
  const bool optimizes = parts.options.opt_level > 0;
  const Stopwatch inline_calls;
  if (optimizes) TENON_RETURN_IF_ERROR(e->InlineCalls());
  e->times_.optimize = inline_calls.Milliseconds();
  const Stopwatch place;
  TENON_RETURN_IF_ERROR(e->PlaceGraph());
  e->times_.place = place.Milliseconds();
  const Stopwatch optimize;
  if (optimizes) TENON_RETURN_IF_ERROR(e->Optimize());
  e->times_.optimize += optimize.Milliseconds();
  TENON_RETURN_IF_ERROR(e->FindOrder());
  e->may_run_ = e->MakeRunnable();
  // What is written for TensorFlow need not run here.
  const bool is_for_others = optimizes && parts.options.pipeline.target == Target::kTensorFlow;
  if (!is_for_others || !absl::IsUnimplemented(e->may_run_)) TENON_RETURN_IF_ERROR(e->may_run_);
  TENON_RETURN_IF_ERROR(e->DescribeFeeds());
  return e;
}

absl::Status Executable::MakeRunnable() {
  TENON_RETURN_IF_ERROR(LowerFunctions());
  TENON_ASSIGN_OR_RETURN(schedule_, MakeSchedule(graph_, order_, fed_only_));
  promises_.Note(graph_, order_);
  return CheckKernels();
}

absl::Status Executable::Resolve(const std::vector<std::string>& feeds,
                                 const std::vector<std::string>& fetches) {
  feed_names_ = feeds;
  fetch_names_ = fetches;
  absl::flat_hash_set<Output> fed;
  for (const std::string& name : feeds) {
    absl::StatusOr<Output> output = graph_.ParseOutput(name);
    if (!output.ok()) return Named("feed", name, output.status());
    if (output->is_control() || output->port >= graph_.num_outputs(output->node)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "feed '", name, "': there is no such output; node '", graph_.name(output->node), "' (",
          graph_.op_name(output->node), ") has ", graph_.num_outputs(output->node)));
    }
    if (!fed.insert(*output).second) {
      return absl::InvalidArgumentError(absl::StrCat("feed '", name, "' is given twice"));
    }
    feeds_.push_back(*output);
    // As in TensorFlow, who waits for any other node waits for it, fed or not.
    stands_for_node_.push_back(IsPlaceholder(graph_, output->node));
  }
  for (const std::string& name : fetches) {
    TENON_ASSIGN_OR_RETURN(const Output output, ResolveFetch(graph_, name));
    fetches_.push_back(output);
  }
  return absl::OkStatus();
}

PipelineInput Executable::InputOfPasses(NodeEvaluator& evaluator,
                                        const KernelOracle& kernels) const {
  PipelineInput input;
  input.fetches = fetches_;
  for (const Output& o : feeds_) input.feeds.insert(o.node);
  input.evaluator = &evaluator;
  input.kernels = &kernels;
  return input;
}

// As the pass function_optimization: the passes, a plug-in's among them, are to see what functions
// hold. It runs before nodes are placed, so that those are placed too.
absl::Status Executable::InlineCalls() {
  pipeline_.rewrites_left = parts_.options.pipeline.bisect_limit;
  if (graph_.functions().empty()) return absl::OkStatus();
  CpuEvaluator evaluator;
  RegistryOracle oracle({parts_.devices.begin(), parts_.devices.end()});
  PipelineInput input = InputOfPasses(evaluator, oracle);
  InlineBudget budget;
  LoweringInliner inliner(order_, input, calls_, budget);
  input.inliner = &inliner;
  absl::flat_hash_set<std::string_view> types;
  for (const Device* device : parts_.devices) types.insert(device->type());
  PipelineOptions options = parts_.options.pipeline;
  if (options.use_plugins) options.plugin_disabled = PassesSwitchedOff(PluginOptimizersFor(types));
  TENON_ASSIGN_OR_RETURN(pipeline_, RunUnplacedPasses(graph_, input, options));
  const auto failed = [](const PassReport& pass) { return pass.failed; };
  if (std::any_of(pipeline_.passes.begin(), pipeline_.passes.end(), failed)) calls_ = CallSites();
  return absl::OkStatus();
}

absl::Status Executable::PlaceGraph() {
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (graph_.alive(n) && !graph_.device(n).empty() && IsFunctional(graph_, n))
      function_devices_.emplace(graph_.name(n), graph_.device(n));
  }
  TENON_ASSIGN_OR_RETURN(
      placement_, Place(graph_, parts_.devices, KernelRegistry::Global(), parts_.options.placer));
  ApplyPlacement(graph_, placement_, parts_.options.pipeline.target == Target::kTensorFlow);
  return absl::OkStatus();
}

absl::Status Executable::Optimize() {
  // Passes may renumber nodes; names stay.
  std::vector<std::pair<std::string, int32_t>> feeds, fetches;
  for (const Output& o : feeds_) feeds.emplace_back(graph_.name(o.node), o.port);
  for (const Output& o : fetches_) fetches.emplace_back(graph_.name(o.node), o.port);
  std::vector<std::string_view> names(graph_.num_node_ids());  // in what the session's graph shares
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (graph_.alive(n)) names[n] = graph_.name(n);
  }

  PipelineOptions options = parts_.options.pipeline;
  options.bisect_limit = pipeline_.rewrites_left;
  options.worked = pipeline_.worked;
  CpuEvaluator evaluator;
  RegistryOracle oracle({parts_.devices.begin(), parts_.devices.end()});
  PipelineInput input = InputOfPasses(evaluator, oracle);
  std::optional<absl::flat_hash_set<std::string_view>> pinned;  // for the pass that asks
  input.fixed_device = [this, &names, &pinned](std::string_view node) {
    if (!pinned.has_value()) {
      pinned.emplace();
      for (size_t n = 0; n < names.size(); ++n) {
        if (placement_[n].reason == PlaceCode::kPinned) pinned->insert(names[n]);
      }
    }
    return pinned->contains(node);
  };
  auto plugins = PluginOptimizersFor(graph_);
  if (!options.use_plugins) plugins.clear();
  WarnOfConfigs(plugins, options.enabled_passes);
  for (auto& off : PassesSwitchedOff(plugins)) options.plugin_disabled.push_back(std::move(off));
  std::vector<std::unique_ptr<FinalPass>> passes;
  const std::vector<std::string> pass_names = NamesOfPasses(plugins);
  for (size_t i = 0; i < plugins.size(); ++i) {
    OptimizerItem item;
    for (const Output& o : fetches_)
      item.fetches.push_back(
          absl::StrCat(graph_.name(o.node), o.is_control() ? "" : absl::StrCat(":", o.port)));
    for (const auto& [name, port] : feeds) item.feeds.push_back(name);
    passes.push_back(MakePluginPass(pass_names[i], plugins[i], std::move(item), &oracle));
    input.final_passes.push_back(passes.back().get());
  }
  TENON_ASSIGN_OR_RETURN(PipelineReport report, RunPipeline(graph_, input, options));
  std::move(report.passes.begin(), report.passes.end(), std::back_inserter(pipeline_.passes));
  calls_.Renumber(names, graph_);

  auto resolve = [this](const std::vector<std::pair<std::string, int32_t>>& names,
                        std::vector<Output>& outputs) -> absl::Status {
    for (size_t i = 0; i < names.size(); ++i) {
      const NodeId n = graph_.FindNode(names[i].first);
      if (n == kNoNode)
        return absl::InternalError(absl::StrCat("the optimizer removed node '", names[i].first,
                                                "', which is fed or fetched"));
      outputs[i] = {n, names[i].second};
    }
    return absl::OkStatus();
  };
  TENON_RETURN_IF_ERROR(resolve(feeds, feeds_));
  TENON_RETURN_IF_ERROR(resolve(fetches, fetches_));
  options.bisect_limit = report.rewrites_left;
  options.grown = report.grown;
  options.worked = report.worked;
  TENON_ASSIGN_OR_RETURN(
      std::vector<PassReport> bodies,
      OptimizeBodies(graph_, InputOfPasses(evaluator, oracle),
                     {parts_.devices, parts_.options.placer, function_devices_}, options));
  pipeline_.nodes_after = graph_.num_nodes();
  std::move(bodies.begin(), bodies.end(), std::back_inserter(pipeline_.passes));
  return PlaceAgain(names);
}

// `before` are the names of the nodes that placement_ is of, by id.
absl::Status Executable::PlaceAgain(absl::Span<const std::string_view> before) {
  std::vector<NodePlacement> previous(std::max(graph_.num_node_ids(), 1));
  for (size_t id = 0; id < before.size(); ++id) {
    const std::string_view name = before[id];
    auto n = static_cast<NodeId>(id);
    if (name.empty()) continue;
    if (n >= graph_.num_node_ids() || !graph_.alive(n) || graph_.name(n) != name)
      n = graph_.FindNode(name);
    if (n != kNoNode) previous[n] = std::move(placement_[id]);
  }
  TENON_ASSIGN_OR_RETURN(placement_, Place(graph_, parts_.devices, KernelRegistry::Global(),
                                           parts_.options.placer, previous));
  ApplyPlacement(graph_, placement_);
  return absl::OkStatus();
}

// Writes out the functions that the run calls. What is reported is the graph of before.
absl::Status Executable::LowerFunctions() {
  std::vector<NodeId> nodes;
  for (NodeId n : order_) {
    if (!fed_only_[n] && IsFunctional(graph_, n)) nodes.push_back(n);
  }
  if (nodes.empty()) return absl::OkStatus();
  before_lowering_ = std::make_unique<BeforeLowering>(BeforeLowering{graph_, placement_});
  std::vector<std::string> devices(graph_.num_node_ids());
  for (NodeId n : nodes) {
    const auto it = function_devices_.find(graph_.name(n));
    if (it != function_devices_.end()) devices[n] = it->second;
  }
  // What is fed of a node that runs all the same is a value of its own.
  std::vector<Output> fed_values(feeds_.size());
  const absl::flat_hash_set<NodeId> lowered(nodes.begin(), nodes.end());
  for (size_t i = 0; i < feeds_.size(); ++i) {
    const Output feed = feeds_[i];
    if (!lowered.contains(feed.node)) continue;
    TENON_ASSIGN_OR_RETURN(
        const NodeId fed,
        graph_.AddNode(graph_.UniqueName(absl::StrCat(graph_.name(feed.node), "/fed")),
                       "Placeholder", {},
                       {{"dtype", attr::Type(BaseType(graph_.output_type(feed)))}}));
    devices.emplace_back();
    fed_values[i] = {fed, 0};
  }
  Lowering lowering(graph_, calls_, devices);
  for (size_t i = 0; i < feeds_.size(); ++i) {
    if (fed_values[i].node == kNoNode) continue;
    lowering.Replace(feeds_[i], fed_values[i]);
    feeds_[i] = fed_values[i];
  }
  std::vector<bool> runs(graph_.num_node_ids(), false);
  for (NodeId n : order_) runs[n] = !fed_only_[n];
  lowering.NoteRunning(runs);
  for (const Output& fetch : fetches_) lowering.Note(fetch);
  TENON_RETURN_IF_ERROR(lowering.Run(nodes));
  for (Output& fetch : fetches_) fetch = lowering.Resolve(fetch);
  std::vector<NodePlacement> previous = placement_;
  previous.resize(graph_.num_node_ids());
  for (NodeId n : nodes) previous[n] = NodePlacement();
  TENON_ASSIGN_OR_RETURN(placement_, Place(graph_, parts_.devices, KernelRegistry::Global(),
                                           parts_.options.placer, previous));
  ApplyPlacement(graph_, placement_);
  return FindOrder();
}

// A fed node that nothing ran before the passes is not run either if a pass lets something wait for
// it.
void Executable::NoteFeedsThatStandForNodes() {
  std::vector<bool> runs(graph_.num_node_ids(), false);
  for (NodeId n : order_) runs[n] = !fed_only_[n];
  for (size_t i = 0; i < feeds_.size(); ++i) {
    if (!runs[feeds_[i].node]) stands_for_node_[i] = true;
  }
}

// What the fetches need, in topological order. A fed output stops the search.
absl::Status Executable::FindOrder() {
  const int32_t count = graph_.num_node_ids();
  const absl::flat_hash_set<Output> fed(feeds_.begin(), feeds_.end());
  std::vector<bool> replaced(count, false);
  for (size_t i = 0; i < feeds_.size(); ++i) {
    if (stands_for_node_[i]) replaced[feeds_[i].node] = true;
  }
  std::vector<bool> needed(count, false);
  fed_only_.assign(count, false);
  std::vector<NodeId> stack;
  auto need = [&](const Output& o) {
    if (!o.is_control() && fed.contains(o)) {
      if (!needed[o.node]) fed_only_[o.node] = true;
      needed[o.node] = true;
      return;
    }
    if (o.is_control() && replaced[o.node]) return;
    if (needed[o.node] && !fed_only_[o.node]) return;
    needed[o.node] = true;
    fed_only_[o.node] = false;
    stack.push_back(o.node);
  };
  for (const Output& fetch : fetches_) need(fetch);
  while (!stack.empty()) {
    const NodeId n = stack.back();
    stack.pop_back();
    if (IsPlaceholder(graph_, n)) {
      return absl::FailedPreconditionError(absl::StrCat(
          graph_.Locate(n), ": nothing is fed to placeholder '", graph_.name(n), "' (",
          graph_.op_name(n), "), which the fetches need; feed a value of its dtype and shape"));
    }
    for (const Output& from : graph_.inputs(n)) need(from);
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> all, TopologicalOrder(graph_));
  order_.clear();
  for (NodeId n : all) {
    if (needed[n]) order_.push_back(n);
  }
  return absl::OkStatus();
}

// Nobody can tell what a node of an unknown op gives to others. Those that the run does not need
// go, and with them everything else that it does not need.
absl::Status Executable::DropUnknownOps() {
  const int32_t count = graph_.num_node_ids();
  bool any = false;
  for (NodeId n = 0; n < count; ++n) any |= graph_.alive(n) && graph_.op(n) == nullptr;
  if (!any) return absl::OkStatus();
  std::vector<bool> runs(count, false), stays(count, false);
  for (NodeId n : order_) {
    if (graph_.op(n) == nullptr) return UnknownOpError(graph_, n);
    stays[n] = true;
    runs[n] = !fed_only_[n];
  }
  for (const Output& feed : feeds_) stays[feed.node] = true;
  for (NodeId n = 0; n < count; ++n) {
    if (!graph_.alive(n) || runs[n]) continue;
    if (!stays[n]) {
      graph_.RemoveNode(n);
    } else if (!IsPlaceholder(graph_, n) && graph_.num_outputs(n) == 1) {
      const DataType dtype = BaseType(graph_.output_type({n, 0}));
      graph_.SetInputs(n, {}, {});
      graph_.SetKind(n, "Placeholder", {{"dtype", attr::Type(dtype)}});
    } else if (!IsPlaceholder(graph_, n)) {
      return NodeError(graph_, calls_, n,
                       absl::UnimplementedError("only one of its outputs is fed, and the graph "
                                                "holds ops that are unknown"));
    }
  }
  return absl::OkStatus();
}

absl::Status Executable::CheckKernels() {
  node_devices_.assign(graph_.num_node_ids(), parts_.host);
  for (NodeId n : order_) {
    if (placement_[n].device != nullptr) node_devices_[n] = placement_[n].device;
    if (fed_only_[n] || IsPlanOp(graph_.op_name(n))) continue;
    absl::Status status = kernels_.Find(graph_, n, *node_devices_[n]).status();
    if (absl::IsUnimplemented(status) && placement_[n].reason == PlaceCode::kNoKernel)
      status = absl::UnimplementedError(NoKernelText(n));
    if (!status.ok()) return NodeError(graph_, calls_, n, status);
  }
  return absl::OkStatus();
}

std::string Executable::NoKernelText(NodeId n) const {
  std::vector<std::string_view> types;
  for (const Device* device : parts_.devices) {
    if (std::find(types.begin(), types.end(), device->type()) == types.end())
      types.push_back(device->type());
  }
  const NodeKind& kind = graph_.kind(n);
  return KernelRegistry::Global().NoKernelText(graph_.name(n), kind.op_name, kind.attrs, kind.op,
                                               types);
}

absl::Status Executable::DescribeFeeds() {
  for (const Output& o : feeds_) {
    feed_types_.push_back(BaseType(graph_.output_type(o)));
    PartialShape& shape = feed_shapes_.emplace_back();
    const bool declares =
        IsPlaceholder(graph_, o.node) || graph_.op_name(o.node) == "PlaceholderWithDefault";
    const AttrValue* attr = declares ? graph_.attr(o.node, "shape") : nullptr;
    if (attr == nullptr) continue;
    absl::StatusOr<PartialShape> declared = attr->AsShape();
    if (!declared.ok()) return NodeError(graph_, calls_, o.node, declared.status());
    const bool legacy =
        declared->known_rank() && declared->rank() == 0 && graph_.producer() < kScalarPlaceholders;
    if (!legacy) shape = *std::move(declared);
  }
  return absl::OkStatus();
}

absl::Status Executable::CheckFeeds(const std::vector<Tensor>& feeds) const {
  if (feeds.size() != feeds_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", feeds.size(), " values for ", feeds_.size(), " feeds"));
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (!feeds[i].initialized())
      return absl::InvalidArgumentError(absl::StrCat("feed '", feed_names_[i], "' has no value"));
    if (feeds[i].dtype() != feed_types_[i]) {
      return absl::InvalidArgumentError(
          absl::StrCat("feed '", feed_names_[i], "' is ", DataTypeName(feeds[i].dtype()),
                       ", but the graph takes ", DataTypeName(feed_types_[i])));
    }
    if (!feed_shapes_[i].CompatibleWith(feeds[i].shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("feed '", feed_names_[i], "' has shape ", feeds[i].shape().ToString(),
                       ", but the graph takes ", feed_shapes_[i].ToString()));
    }
  }
  return absl::OkStatus();
}

std::shared_ptr<const Plan> Executable::Cached(const std::vector<Tensor>& feeds) {
  absl::ReaderMutexLock lock(&mutex_);
  for (const auto& cached : plans_) {
    const bool same =
        std::equal(cached->shapes.begin(), cached->shapes.end(), feeds.begin(), feeds.end(),
                   [](const Shape& s, const Tensor& t) { return s == t.shape(); });
    if (!same) continue;
    cached->used.store(clock_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
    return cached->plan;
  }
  return nullptr;
}

absl::StatusOr<std::shared_ptr<const Plan>> Executable::PlanFor(const std::vector<Tensor>& feeds) {
  std::shared_ptr<const Plan> plan = Cached(feeds);
  if (plan != nullptr) {
    hits_.fetch_add(1, std::memory_order_relaxed);
    return plan;
  }
  absl::MutexLock build(&build_mutex_);
  plan = Cached(feeds);  // another thread may have built it meanwhile
  if (plan != nullptr) return plan;
  const Stopwatch watch;
  TENON_ASSIGN_OR_RETURN(plan, Build(feeds));
  if (builds_.fetch_add(1) == 0) times_.plan = watch.Milliseconds();
  auto entry = std::make_unique<CachedPlan>();
  for (const Tensor& t : feeds) entry->shapes.push_back(t.shape());
  entry->plan = plan;
  entry->used = clock_.fetch_add(1);
  absl::MutexLock lock(&mutex_);
  if (plans_.size() >= max_plans()) {
    plans_.erase(std::min_element(plans_.begin(), plans_.end(),
                                  [](const auto& a, const auto& b) { return a->used < b->used; }));
  }
  plans_.push_back(std::move(entry));
  return plan;
}

absl::StatusOr<std::shared_ptr<const Plan>> Executable::Build(const std::vector<Tensor>& feeds) {
  TENON_RETURN_IF_ERROR(may_run_);
  std::vector<FeedSpec> specs;
  for (const Tensor& t : feeds) specs.push_back({t.dtype(), t.shape()});
  const PlanInput input{graph_,
                        calls_,
                        schedule_,
                        fed_only_,
                        node_devices_,
                        feeds_,
                        specs,
                        fetches_,
                        fetch_names_,
                        parts_.host,
                        constants_,
                        kernels_,
                        promises_,
                        parts_.states,
                        late_,
                        parts_.workers,
                        parts_.options.device_timeout_s};
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, BuildPlan(input));
  return std::shared_ptr<const Plan>(std::move(plan));
}

absl::StatusOr<std::vector<Tensor>> Executable::Run(const std::vector<Tensor>& feeds,
                                                    RunRecorder* recorder) {
  TENON_RETURN_IF_ERROR(CheckFeeds(feeds));
  absl::StatusOr<std::vector<Tensor>> values = RunOnce(feeds, recorder);
  while (!values.ok() && OtherPlansMayDo(values.status())) values = RunOnce(feeds, recorder);
  return values;
}

bool Executable::OtherPlansMayDo(const absl::Status& status) {
  absl::MutexLock build(&build_mutex_);  // no plan is half made that believes what was wrong
  if (!promises_.Disbelieve(graph_, status)) return false;
  absl::MutexLock lock(&mutex_);
  plans_.clear();
  return true;
}

absl::StatusOr<std::vector<Tensor>> Executable::RunOnce(const std::vector<Tensor>& feeds,
                                                        RunRecorder* recorder) {
  std::optional<RunRecording> recording;
  if (recorder != nullptr) recording.emplace(*recorder);
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, PlanFor(feeds));
  if (recording.has_value()) recording->BeginRun(plan);
  const RunContext context = {.workers = &parts_.workers,
                              .device_timeout_s = parts_.options.device_timeout_s,
                              .step_id = parts_.next_step.fetch_add(1, std::memory_order_relaxed),
                              .max_loop_passes = parts_.options.max_loop_passes,
                              .recording = recording.has_value() ? &*recording : nullptr};
  const auto run = [&] {
    absl::StatusOr<std::vector<Tensor>> values = RunPlan(*plan, feeds, context);
    if (recording.has_value()) recording->EndRun();
    return values;
  };
  if (has_run_.load(std::memory_order_relaxed)) return run();
  const Stopwatch watch;
  absl::StatusOr<std::vector<Tensor>> values = run();
  const double time = watch.Milliseconds();
  absl::MutexLock lock(&build_mutex_);
  if (!has_run_.exchange(true)) times_.first_run = time;
  return values;
}

std::shared_ptr<const Plan> Executable::last_plan() const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto last = std::max_element(
      plans_.begin(), plans_.end(), [](const auto& a, const auto& b) { return a->used < b->used; });
  return last == plans_.end() ? nullptr : (*last)->plan;
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

PlanCacheReport Executable::plan_cache() const {
  absl::ReaderMutexLock lock(&mutex_);
  return {.builds = builds_.load(),
          .hits = hits_.load(),
          .plans = static_cast<int64_t>(plans_.size()),
          .max_plans = static_cast<int64_t>(max_plans()),
          .late_builds = late_.made.load(),
          .late_hits = late_.reused.load(),
          .max_late = KernelStep::kMaxPrepared};
}

}  // namespace tenon
