#include "grappler_lite/pipeline.h"

#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/colocation.h"
#include "graph/io.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

int64_t MicrosSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
}

int64_t CountEdges(const Graph& graph) {
  int64_t edges = 0;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) edges += static_cast<int64_t>(graph.inputs(n).size());
  }
  return edges;
}

// Why a pass does not run, or empty.
std::string SkipReason(std::string_view name, const PipelineOptions& options) {
  const auto has = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  if (!options.only.empty() && !has(options.only)) return "not selected";
  if (has(options.disabled_passes)) return "disabled";
  for (const auto& [pass, why] : options.plugin_disabled) {
    if (pass == name) return why;
  }
  return "";
}

// Takes names of nodes that are gone out of the colocation lists of those that remain.
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

// What must hold after any pass: structure, and fetches that are still there. Shapes are checked
// when the plan is built.
absl::Status CheckResult(const Graph& graph, absl::Span<const Output> fetches) {
  for (const Output& f : fetches) {
    if (!graph.alive(f.node)) return absl::InternalError("a fetched node was removed");
    if (!f.is_control() && f.port >= graph.num_outputs(f.node)) {
      return absl::InternalError(absl::StrCat("fetch ", graph.OutputName(f), " lost its output"));
    }
  }
  for (const Defect& defect : Verify(graph)) {
    if (!defect.in_function || !MayBeUnused(defect)) return absl::InternalError(defect.message);
  }
  return absl::OkStatus();
}

enum class Stage : uint8_t { kUnplaced, kPlaced };

absl::Status CheckNames(const PipelineOptions& options) {
  for (const std::string& name : options.only) TENON_RETURN_IF_ERROR(CheckPassName(name));
  for (const std::string& name : options.disabled_passes)
    TENON_RETURN_IF_ERROR(CheckPassName(name));
  for (const std::string& name : options.disabled_rewrites)
    TENON_RETURN_IF_ERROR(CheckRewriteName(name));
  return absl::OkStatus();
}

class PipelineRun {
 public:
  // With `guarded`, every pass works on a snapshot that is restored when it fails or its result
  // does not verify. Without, the caller verifies at the end: cheaper, and right for passes that
  // keep their promises.
  PipelineRun(Graph& graph, const PipelineInput& input, const PipelineOptions& options, Stage stage,
              bool guarded)
      : graph_(graph),
        input_(input),
        options_(options),
        stage_(stage),
        guarded_(guarded),
        rewrites_left_(options.bisect_limit) {
    for (const Output& f : input.fetches) fetch_names_.push_back(graph.OutputName(f));
    for (NodeId n : input.feeds) feed_names_.emplace_back(graph.name(n));
    for (NodeId n : input.keep) keep_names_.emplace_back(graph.name(n));
  }

  absl::StatusOr<PipelineReport> Run() {
    report_.nodes_before = graph_.num_nodes();
    const int iterations = stage_ == Stage::kUnplaced ? 1 : options_.iterations;
    for (int i = 0; i < iterations; ++i) {
      TENON_ASSIGN_OR_RETURN(const bool changed, RunIteration(i));
      if (!changed) break;
    }
    report_.nodes_after = graph_.num_nodes();
    return std::move(report_);
  }

 private:
  // Node ids of what must stay, by name: a final pass may have brought a new graph.
  absl::Status Resolve() {
    fetches_.clear();
    feeds_.clear();
    preserve_.clear();
    for (const std::string& name : fetch_names_) {
      TENON_ASSIGN_OR_RETURN(const Output f, graph_.ParseOutput(name));
      fetches_.push_back(f);
      preserve_.insert(f.node);
    }
    for (const std::string& name : feed_names_) {
      const NodeId n = graph_.FindNode(name);
      if (n != kNoNode) feeds_.insert(n);
    }
    for (const std::string& name : keep_names_) {
      const NodeId n = graph_.FindNode(name);
      if (n != kNoNode) preserve_.insert(n);
    }
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      if (graph_.alive(n) && MustStay(graph_, n)) preserve_.insert(n);
    }
    preserve_.insert(feeds_.begin(), feeds_.end());
    return absl::OkStatus();
  }

  // The row of a pass that is about to run, or to be skipped.
  PassReport NewRow(std::string_view name, int iteration) const {
    PassReport row;
    row.name = std::string(name);
    row.iteration = iteration;
    row.reason = SkipReason(name, options_);
    row.skipped = !row.reason.empty();
    row.nodes_before = row.nodes_after = graph_.num_nodes();
    row.edges_before = row.edges_after = CountEdges(graph_);
    return row;
  }

  absl::StatusOr<bool> RunIteration(int iteration) {
    bool changed = false;
    TENON_RETURN_IF_ERROR(Resolve());
    for (const PassEntry& entry : PassOrder()) {
      if (entry.brings_nodes != (stage_ == Stage::kUnplaced)) continue;
      PassReport row = NewRow(entry.name, iteration);
      if (!row.skipped) TENON_RETURN_IF_ERROR(RunPass(entry, row));
      changed |= row.changed;
      AddRow(std::move(row));
    }
    for (FinalPass* pass : input_.final_passes) {
      PassReport row = NewRow(pass->name(), iteration);
      if (!row.skipped) RunFinalPass(*pass, row);
      changed |= row.changed;
      AddRow(std::move(row));
    }
    return changed;
  }

  void AddRow(PassReport row) {
    if (row.changed) {
      row.nodes_after = graph_.num_nodes();
      row.edges_after = CountEdges(graph_);
    }
    report_.passes.push_back(std::move(row));
  }

  static void NoteRollBack(const absl::Status& status, PassReport& row) {
    row.failed = true;
    row.reason = absl::StrCat("rolled back: ", status.message());
  }

  void RunFinalPass(FinalPass& pass, PassReport& row) {
    const auto start = Clock::now();
    const absl::StatusOr<bool> changed = pass.Run(graph_);
    row.time_us = MicrosSince(start);
    row.changed = changed.value_or(false);
    if (!changed.ok()) NoteRollBack(changed.status(), row);
  }

  absl::Status RunPass(const PassEntry& entry, PassReport& row) {
    std::optional<Graph> before;
    if (guarded_) before.emplace(graph_);
    const auto start = Clock::now();
    PassContext context{graph_,
                        preserve_,
                        feeds_,
                        fetches_,
                        *input_.evaluator,
                        *input_.kernels,
                        options_.fast_math,
                        options_.target,
                        input_.inliner,
                        entry.name,
                        {options_.disabled_rewrites.begin(), options_.disabled_rewrites.end()},
                        {},
                        rewrites_left_};
    absl::StatusOr<bool> changed = entry.make()->Run(context);
    row.time_us = MicrosSince(start);
    absl::Status status = changed.status();
    if (status.ok() && *changed) DropVoidColocations(graph_);
    if (status.ok() && guarded_ && *changed) status = CheckResult(graph_, fetches_);
    if (!status.ok()) {
      if (!guarded_) return status;
      graph_ = *std::move(before);
      NoteRollBack(status, row);
      return absl::OkStatus();
    }
    row.changed = *changed;
    rewrites_left_ = context.rewrites_left;
    row.rewrites.assign(context.rewrite_counts.begin(), context.rewrite_counts.end());
    std::sort(row.rewrites.begin(), row.rewrites.end());
    return absl::OkStatus();
  }

  Graph& graph_;
  const PipelineInput& input_;
  const PipelineOptions& options_;
  const Stage stage_;
  const bool guarded_;
  int64_t rewrites_left_;
  std::vector<std::string> fetch_names_, feed_names_, keep_names_;
  std::vector<Output> fetches_;
  absl::flat_hash_set<NodeId> feeds_;
  absl::flat_hash_set<NodeId> preserve_;
  PipelineReport report_;
};

}  // namespace

absl::StatusOr<PipelineReport> RunUnplacedPasses(Graph& graph, const PipelineInput& input,
                                                 const PipelineOptions& options) {
  TENON_RETURN_IF_ERROR(CheckNames(options));
  return PipelineRun(graph, input, options, Stage::kUnplaced, true).Run();
}

absl::StatusOr<PipelineReport> RunPipeline(Graph& graph, const PipelineInput& input,
                                           const PipelineOptions& options) {
  TENON_RETURN_IF_ERROR(CheckNames(options));
  if (graph.num_nodes() < options.min_graph_nodes) {
    PipelineReport report;
    report.nodes_before = report.nodes_after = graph.num_nodes();
    return report;
  }
  // A plug-in's pass must not run twice because a built-in one failed, so graphs that have one are
  // guarded from the start.
  const bool guarded = options.verify_each || !input.final_passes.empty();
  if (guarded) return PipelineRun(graph, input, options, Stage::kPlaced, true).Run();
  const Graph before = graph;
  absl::StatusOr<PipelineReport> report =
      PipelineRun(graph, input, options, Stage::kPlaced, false).Run();
  if (report.ok() && CheckResult(graph, input.fetches).ok()) return report;
  graph = before;
  return PipelineRun(graph, input, options, Stage::kPlaced, true).Run();
}

}  // namespace tenon
