// The pipeline runs passes in two modes. The fast mode runs them all and verifies the result once.
// The guarded mode takes a snapshot before each pass and restores it if the pass fails. Where the
// fast mode ends badly, RunPipeline starts again in the guarded mode, which finds and undoes the
// pass at fault.

#include "grappler_lite/pipeline/pipeline.h"

#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/ir/colocation.h"
#include "graph/ir/node_places.h"
#include "graph/ir/nodes.h"
#include "graph/verify/verifier.h"
#include "grappler_lite/pipeline/fingerprint.h"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

int64_t MicrosSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
}

// What the rows say of a graph.
struct GraphSize {
  int64_t nodes = 0, edges = 0, bytes = 0;
};

// Measures a graph again and again while passes edit it. Kinds are immutable, so the size of a kind
// is computed once: a large constant is not decoded for each row of the report.
class Scales {
 public:
  GraphSize Weigh(const Graph& graph) {
    GraphSize size{graph.num_nodes(), 0, 0};
    for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
      if (!graph.alive(n)) continue;
      size.edges += static_cast<int64_t>(graph.inputs(n).size());
      size.bytes += BytesOf(graph.kind(n));
    }
    return size;
  }

 private:
  int64_t BytesOf(const NodeKind& kind) {
    if (kind.index >= bytes_.size()) bytes_.resize(std::max<size_t>(kind.index + 1, 32) * 2, -1);
    int64_t& bytes = bytes_[kind.index];
    if (bytes < 0) {
      const AttrValue* value = kind.op_name == "Const" ? kind.attrs.Find("value") : nullptr;
      bytes = value == nullptr ? 0 : static_cast<int64_t>(value->wire().size());
    }
    return bytes;
  }

  std::vector<int64_t> bytes_;  // by index of kind; -1: not known
};

// Looked for once: most graphs have none, and DropVoidColocations is a sweep over all nodes after
// each pass.
bool HasColocations(const Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && graph.attrs(n).Find(kColocationAttr) != nullptr) return true;
  }
  return false;
}

// Takes names of nodes that are gone out of the colocation lists of the nodes that remain: the
// verifier, and TensorFlow, refuse a list that names an unknown node.
void DropVoidColocations(Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const AttrValue* attr = graph.attrs(n).Find(kColocationAttr);
    if (attr == nullptr) continue;
    absl::StatusOr<std::vector<std::string_view>> list = attr->AsStringList();
    if (!list.ok()) continue;
    const auto gone = [&](std::string_view name) {
      return absl::ConsumePrefix(&name, kColocationPrefix) && graph.FindNode(name) == kNoNode;
    };
    if (std::erase_if(*list, gone) == 0) continue;
    if (list->empty()) {
      graph.RemoveAttr(n, kColocationAttr);
    } else {
      graph.SetAttr(n, kColocationAttr, attr::StringList(*list));
    }
  }
}

absl::Status CheckFetches(const Graph& graph, absl::Span<const Output> fetches) {
  for (const Output& f : fetches) {
    if (f.node >= graph.num_node_ids() || !graph.alive(f.node))
      return absl::InternalError("a fetched node was removed");
    if (!f.is_control() && f.port >= graph.num_outputs(f.node)) {
      return absl::InternalError(absl::StrCat("fetch ", graph.OutputName(f), " lost its output"));
    }
  }
  return absl::OkStatus();
}

// By node id: whether the fetches need the node; all nodes, if there are no fetches.
std::vector<bool> NodesFor(const Graph& graph, absl::Span<const Output> fetches) {
  std::vector<bool> needed(graph.num_node_ids(), fetches.empty());
  std::vector<NodeId> open;
  const auto need = [&](const Output& o) {
    if (needed[o.node]) return;
    needed[o.node] = true;
    open.push_back(o.node);
  };
  for (const Output& fetch : fetches) need(fetch);
  while (!open.empty()) {
    const NodeId n = open.back();
    open.pop_back();
    for (const Output& in : graph.inputs(n)) need(in);
  }
  return needed;
}

// Marks the error of a graph in which a node can only fail, now that more is known of its shapes.
constexpr std::string_view kShapeKey = "tenon/shape_fault";

// What must hold after any pass on a graph that was sound before: structure, shapes as far as they
// are known, and fetches that are still there. Bodies of functions are checked where they change. A
// node that no fetch needs may have shapes that do not fit: a pass may find out more about shapes
// than the import did.
absl::Status CheckResult(const Graph& graph, const Graph& before, absl::Span<const Output> fetches,
                         bool shapes_are_known = false) {
  TENON_RETURN_IF_ERROR(CheckFetches(graph, fetches));
  VerifyOptions options;
  options.sound = &before;
  options.shapes_are_known = shapes_are_known;
  std::vector<bool> needed;
  for (const Defect& defect : VerifyNodes(graph, options)) {
    absl::Status status = absl::InternalError(defect.message);
    if (defect.code != DefectCode::kShape) return status;
    if (needed.empty()) needed = NodesFor(graph, fetches);
    const NodeId n = graph.FindNode(defect.node);
    if (n != kNoNode && !needed[n]) continue;
    status.SetPayload(kShapeKey, absl::Cord());
    return status;
  }
  return absl::OkStatus();
}

enum class Stage : uint8_t { kUnplaced, kPlaced };

// The passes of one iteration, in their order: those of --passes, or all.
struct Step {
  std::string name;
  const PassEntry* pass = nullptr;  // or
  FinalPass* final_pass = nullptr;
  PassArguments arguments;
  // How many passes had changed the graph when this one last found nothing that it could do; -1: it
  // has not been so.
  int64_t idle_at = -1;
};

// Whether a name that somebody gave is the pass's, or that of the field which switches it.
bool Means(std::string_view given, const Step& step) {
  return MeansPass(given, step.name) || (step.pass != nullptr && given == step.pass->field);
}

std::vector<Step> StepsFor(const PipelineInput& input, const PipelineOptions& options,
                           Stage stage) {
  std::vector<Step> all;
  for (absl::Span<const PassEntry> passes :
       {PassOrder(), absl::Span<const PassEntry>(options.custom_passes)}) {
    for (const PassEntry& pass : passes) {
      if (pass.brings_nodes == (stage == Stage::kUnplaced))
        all.push_back({std::string(pass.name), &pass, nullptr, {}});
    }
  }
  for (FinalPass* pass : input.final_passes) all.push_back({pass->name(), nullptr, pass, {}});
  if (options.passes.empty()) return all;
  std::vector<Step> steps;
  for (const PassSpec& spec : options.passes) {
    absl::flat_hash_set<std::string_view> taken;  // a pass may stand in the order more than once
    for (const Step& step : all) {
      if (!Means(spec.name, step) || !taken.insert(step.name).second) continue;
      steps.push_back(step);
      steps.back().arguments = spec.arguments;
    }
  }
  return steps;
}

// Why a pass does not run, or empty.
std::string SkipReason(const Step& step, const PipelineOptions& options) {
  const auto has = [&](const std::vector<std::string>& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& name) { return Means(name, step); });
  };
  if (has(options.disabled_passes)) return "disabled";
  for (const auto& [pass, why] : options.plugin_disabled) {
    if (Means(pass, step)) return why;
  }
  if (step.pass == nullptr || step.pass->off.empty()) return "";
  const bool asked_for = !options.passes.empty() || has(options.enabled_passes);
  // A pass without rewrites has nothing to switch on: it stays off, with its reason, even where it
  // is named.
  return asked_for && !step.pass->make()->rewrites().empty() ? "" : std::string(step.pass->off);
}

PassBudget BudgetOf(const Step& step, int64_t nodes) {
  const auto argument = [&](const PassOption& option, int64_t per_node) {
    const auto it = step.arguments.find(option.name);
    return it == step.arguments.end() ? option.otherwise + per_node * nodes : it->second;
  };
  return {argument(kMaxRewrites, kRewritesPerNode), argument(kMaxVisits, kVisitsPerNode)};
}

class PipelineRun {
 public:
  // With `guarded`, every pass works on a snapshot that is restored when it fails or its result
  // does not verify, and observers see it. Without, the caller verifies at the end: cheaper, and
  // right for passes that keep their promises.
  PipelineRun(Graph& graph, const PipelineInput& input, const PipelineOptions& options, Stage stage,
              bool guarded)
      : graph_(graph),
        input_(input),
        options_(options),
        stage_(stage),
        guarded_(guarded),
        steps_(StepsFor(input, options, stage)),
        gate_(options, input.function),
        // Passes before placement bring nodes, which may bring colocations with them.
        has_colocations_(stage == Stage::kUnplaced || HasColocations(graph)) {
    for (const Output& f : input.fetches) {
      fetch_names_.push_back(graph.OutputName(f));
      preserve_.insert(f.node);
    }
    for (NodeId n : input.feeds) feed_names_.emplace_back(graph.name(n));
    std::sort(feed_names_.begin(), feed_names_.end());
    preserve_.insert(input.feeds.begin(), input.feeds.end());
    preserve_.insert(input.keep.begin(), input.keep.end());
  }

  // Whether the shapes that passes asked for hold for the graph as it is now, whatever is fed.
  bool KnowsShapes() {
    const auto is_placeholder = [&](NodeId n) { return graph_.op_name(n) == "Placeholder"; };
    return std::all_of(input_.feeds.begin(), input_.feeds.end(), is_placeholder) &&
           shapes_.Refresh(graph_, ShapeOptions()).ok();
  }

  absl::StatusOr<PipelineReport> Run() {
    report_.nodes_before = graph_.num_nodes();
    size_ = scales_.Weigh(graph_);
    const int iterations = stage_ == Stage::kUnplaced ? 1 : options_.iterations;
    for (int i = 0; i < iterations; ++i) {
      TENON_ASSIGN_OR_RETURN(changed_, RunIteration(i));
      if (!changed_ && input_.final_passes.empty()) break;
    }
    report_.nodes_after = graph_.num_nodes();
    report_.rewrites_left = gate_.left();
    report_.grown = gate_.grown();
    report_.worked = gate_.worked();
    return std::move(report_);
  }

 private:
  // What is marked stays, also if what a pass makes of it has no mark.
  void PreserveMarked() {
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      if (graph_.alive(n) && MustStay(graph_, n)) preserve_.insert(n);
    }
  }

  absl::StatusOr<bool> RunIteration(int iteration) {
    bool changed = false;
    PreserveMarked();
    for (Step& step : steps_) {
      std::string reason = SkipReason(step, options_);
      // One row for a skipped pass is enough.
      if (iteration > 0 && !reason.empty()) continue;
      // Ours would do nothing again. A pass from outside sees every iteration, as in TensorFlow.
      if (!changed_ && (step.final_pass == nullptr || failed_.contains(step.final_pass))) continue;
      PassReport row;
      row.name = step.name;
      row.function = input_.function;
      row.iteration = iteration;
      row.reason = std::move(reason);
      row.skipped = !row.reason.empty();
      row.nodes_before = size_.nodes;
      row.edges_before = size_.edges;
      row.bytes_before = size_.bytes;
      if (!row.skipped) TENON_RETURN_IF_ERROR(RunStep(step, row));
      if (row.changed) size_ = scales_.Weigh(graph_);
      row.nodes_after = size_.nodes;
      row.edges_after = size_.edges;
      row.bytes_after = size_.bytes;
      changed |= row.changed;
      report_.passes.push_back(std::move(row));
    }
    return changed;
  }

  absl::StatusOr<bool> RunPass(const Step& step, Graph& graph, RewriteGate& gate,
                               CallInliner* inliner,
                               std::vector<std::pair<std::string, std::string>>* notes) {
    PassContext context{graph,
                        preserve_,
                        input_.feeds,
                        input_.fetches,
                        *input_.evaluator,
                        *input_.kernels,
                        gate,
                        shapes_,
                        step.arguments,
                        options_.fast_math,
                        options_.target,
                        inliner,
                        input_.fixed_device ? &input_.fixed_device : nullptr,
                        &also_fixed_,
                        input_.caller_device,
                        notes};
    TENON_ASSIGN_OR_RETURN(const bool changed, step.pass->make()->Run(context));
    if (changed && has_colocations_) DropVoidColocations(graph);
    return changed;
  }

  // A plug-in's pass is one rewrite.
  absl::StatusOr<bool> RunFinalPass(FinalPass& pass) {
    if (!gate_.Allow(graph_, "", kNoNode)) return false;
    TENON_ASSIGN_OR_RETURN(const bool changed, pass.Run(graph_));
    if (!changed) return false;
    TENON_RETURN_IF_ERROR(CheckFetches(graph_, input_.fetches));
    has_colocations_ = HasColocations(graph_);
    if (has_colocations_) DropVoidColocations(graph_);
    return true;
  }

  // Without a guard an error ends the run; with one, the pass is undone and the row says why.
  absl::Status RunStep(Step& step, PassReport& row) {
    // It would find nothing again.
    if (!guarded_ && step.idle_at == changes_) return absl::OkStatus();
    gate_.BeginPass(step.name, BudgetOf(step, graph_.num_nodes()));
    if (!guarded_) {
      TENON_RETURN_IF_ERROR(Work(step, row).status());
      if (row.changed) ++changes_;
      // Observers hear of each rewrite that the bisect limit refuses, in each iteration.
      if (!row.changed && gate_.left() > 0 && row.notes.empty() && row.budget_spent.empty())
        step.idle_at = changes_;
      return absl::OkStatus();
    }
    const Graph before = graph_;
    const PassRun run{step.name,   row.iteration,   before,       fetch_names_,
                      feed_names_, input_.function, input_.caller};
    // A replay must not change the inliner of the run, which notes each call that it writes out. So
    // the replay gets a fork of the inliner as it was before the pass.
    const bool brings_nodes = step.pass != nullptr && step.pass->brings_nodes;
    const std::unique_ptr<CallInliner> inliner_before =
        brings_nodes && input_.inliner != nullptr && !options_.observers.empty()
            ? input_.inliner->Fork()
            : nullptr;
    for (PipelineObserver* observer : options_.observers) observer->BeforePass(run);
    absl::StatusOr<bool> changed = Work(step, row);
    absl::Status status = changed.status();
    if (status.ok()) status = CheckWork(step, run, inliner_before.get(), *changed);
    if (!status.ok()) {
      graph_ = before;
      // Only a pass from outside can have brought or taken colocations.
      if (step.final_pass != nullptr) has_colocations_ = HasColocations(graph_);
      row.changed = false;
      // What calls become may show that the graph can only fail: the run tells of that.
      row.left_undone = brings_nodes && status.GetPayload(kShapeKey).has_value();
      row.failed = !row.left_undone;
      if (step.final_pass != nullptr) failed_.insert(step.final_pass);
      row.reason = absl::StrCat(row.failed ? "rolled back: " : "left undone: ", status.message());
    }
    for (PipelineObserver* observer : options_.observers) observer->AfterPass(run, graph_, row);
    if (row.failed && options_.fail_on_errors)
      return Annotate(status, absl::StrCat("pass ", step.name, ": "));
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Work(const Step& step, PassReport& row) {
    const auto start = Clock::now();
    const absl::StatusOr<bool> changed =
        step.final_pass != nullptr ? RunFinalPass(*step.final_pass)
                                   : RunPass(step, graph_, gate_, input_.inliner, &row.notes);
    row.time_us = MicrosSince(start);
    row.changed = changed.value_or(false);
    row.rewrites = gate_.Counts();
    row.budget_spent = gate_.BudgetSpent();
    return changed;
  }

  // What a pass left behind; observers may find more. `inliner`: as it was before the pass.
  absl::Status CheckWork(const Step& step, const PassRun& run, const CallInliner* inliner,
                         bool changed) {
    // The pass of a plug-in has verified its answer itself (MakePluginPass).
    if (step.pass != nullptr) {
      // A pass that says "no change" where there was one would end the iterations too early, and
      // its work would go unverified.
      if (changed != (Fingerprint(graph_) != Fingerprint(run.before))) {
        return absl::InternalError(changed ? "it says that it changed the graph, which is as it was"
                                           : "it changed the graph and says that it did not");
      }
      if (changed) TENON_RETURN_IF_ERROR(CheckResult(graph_, run.before, input_.fetches));
    }
    if (!changed) return absl::OkStatus();
    ReplayPass replay;
    if (step.pass != nullptr) {
      replay = [&](const AllowRewrite& allow) -> absl::StatusOr<Graph> {
        Graph graph = run.before;
        RewriteGate gate =
            gate_.ForReplay(step.name, BudgetOf(step, run.before.num_nodes()), &allow);
        const std::unique_ptr<CallInliner> fork = inliner != nullptr ? inliner->Fork() : nullptr;
        TENON_RETURN_IF_ERROR(RunPass(step, graph, gate, fork.get(), nullptr).status());
        return graph;
      };
    }
    for (PipelineObserver* observer : options_.observers)
      TENON_RETURN_IF_ERROR(observer->CheckPass(run, graph_, replay));
    return absl::OkStatus();
  }

  Graph& graph_;
  const PipelineInput& input_;
  const PipelineOptions& options_;
  const Stage stage_;
  const bool guarded_;
  std::vector<Step> steps_;
  int64_t changes_ = 0;  // passes that changed the graph, in the fast mode
  RewriteGate gate_;
  bool has_colocations_;  // passes bring none, but for those that bring nodes
  Scales scales_;
  GraphSize size_;
  GraphShapes shapes_;
  std::vector<std::string> fetch_names_, feed_names_;
  absl::flat_hash_set<NodeId> preserve_;
  absl::flat_hash_set<std::string> also_fixed_;
  bool changed_ = true;  // by the iteration before
  absl::flat_hash_set<const FinalPass*> failed_;
  PipelineReport report_;
};

bool NeedsGuard(const PipelineInput& input, const PipelineOptions& options) {
  // A plug-in's pass must not run twice because a built-in one failed.
  return options.verify_each || !input.final_passes.empty() ||
         std::any_of(options.observers.begin(), options.observers.end(),
                     [](const PipelineObserver* o) { return o->wants_every_pass(); });
}

// The part of a RewriteKey before the node: "pass.rewrite", or a pass of a plug-in.
absl::Status CheckKey(std::string_view key, absl::Span<const PassEntry> custom) {
  const std::string_view rewrite = key.substr(0, key.find('@'));
  return rewrite.starts_with("plugin:") ? absl::OkStatus() : CheckRewriteName(rewrite, custom);
}

absl::Status CheckNames(const PipelineOptions& options) {
  for (const PassSpec& spec : options.passes)
    TENON_RETURN_IF_ERROR(CheckPassName(spec.name, options.custom_passes));
  for (const auto* names : {&options.disabled_passes, &options.enabled_passes}) {
    for (const std::string& name : *names)
      TENON_RETURN_IF_ERROR(CheckPassName(name, options.custom_passes));
  }
  for (const std::string& name : options.disabled_rewrites)
    TENON_RETURN_IF_ERROR(CheckRewriteName(name, options.custom_passes));
  for (const std::string& key : options.beyond_limit)
    TENON_RETURN_IF_ERROR(CheckKey(key, options.custom_passes));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PipelineReport> RunUnplacedPasses(Graph& graph, const PipelineInput& input,
                                                 const PipelineOptions& options) {
  TENON_RETURN_IF_ERROR(CheckNames(options));
  return PipelineRun(graph, input, options, Stage::kUnplaced, true).Run();
}

namespace {

// `before` is a copy of `graph`.
absl::StatusOr<PipelineReport> RunPlacedPasses(Graph& graph, const Graph& before,
                                               const PipelineInput& input,
                                               const PipelineOptions& options) {
  TENON_RETURN_IF_ERROR(CheckNames(options));
  if (graph.num_nodes() < options.min_graph_nodes) {
    PipelineReport report;
    report.nodes_before = report.nodes_after = graph.num_nodes();
    report.rewrites_left = options.bisect_limit;
    report.grown = options.grown;
    report.worked = options.worked;
    return report;
  }
  if (NeedsGuard(input, options))
    return PipelineRun(graph, input, options, Stage::kPlaced, true).Run();
  PipelineRun run(graph, input, options, Stage::kPlaced, false);
  absl::StatusOr<PipelineReport> report = run.Run();
  // The shapes that the passes left behind spare the verifier an inference of its own.
  if (report.ok() && CheckResult(graph, before, input.fetches, run.KnowsShapes()).ok())
    return report;
  graph = before;
  return PipelineRun(graph, input, options, Stage::kPlaced, true).Run();
}

}  // namespace

absl::StatusOr<PipelineReport> RunPipeline(Graph& graph, const PipelineInput& input,
                                           const PipelineOptions& options) {
  const Graph before = graph;
  absl::StatusOr<PipelineReport> report = RunPlacedPasses(graph, before, input, options);
  if (report.ok() && HasPlaces(before)) CarryPlaces(before, graph);
  return report;
}

}  // namespace tenon
