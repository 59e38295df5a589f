// Runs the passes in order, times each, checks its work and reports it. A run uses one thread; runs
// on different graphs may go on at the same time if they share no evaluator, observer or pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/observer.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/pass_spec.h"

namespace tenon {

// What the user sets.
struct PipelineOptions {
  int iterations = 2;           // after an iteration without a change only final passes run
  int64_t min_graph_nodes = 4;  // RunPipeline leaves smaller graphs as they are; -1: no limit
  // If not empty: exactly these passes run, in this order, less those that are disabled here or by
  // a plug-in and those that are off by default and have no rewrites. Passes of these that bring
  // nodes still run before all others, in RunUnplacedPasses. A name of a pass also means the passes
  // with that PassEntry::field. "plugin:TYPE" means the passes of all plug-ins for the device type,
  // "plugin:*" the passes of all plug-ins.
  std::vector<PassSpec> passes;
  std::vector<std::string> disabled_passes;
  std::vector<std::string> enabled_passes;     // passes that are off by default
  std::vector<std::string> disabled_rewrites;  // "constant_folding.fold"
  // Passes that a plug-in's optimizer configuration switched off, with the reason for the report.
  std::vector<std::pair<std::string, std::string>> plugin_disabled;
  // Run passes of plug-ins, and heed what their configurations say. For the caller, who makes
  // final_passes and plugin_disabled: the pipeline does not look at it.
  bool use_plugins = true;
  bool fail_on_errors = false;  // a failing pass ends the run with its error
  bool verify_each = false;     // verify what each pass changed, not the result once at the end
  bool fast_math = false;       // rewrites of class kFastMath may run
  Target target;                // the runtime of the result
  // The number of rewrites that all passes may apply together, those of a pass that is rolled back
  // included. A run of a plug-in's pass counts as one rewrite, even if it changes nothing.
  int64_t bisect_limit = INT64_MAX;
  // Bytes by which constants have grown in earlier runs, of the graph or of bodies: limits on
  // growth and work hold for all runs of one compilation together.
  int64_t grown = 0;
  int64_t worked = 0;                        // work of earlier runs, in EstimateWork's units
  std::vector<std::string> beyond_limit;     // RewriteKeys that are allowed beyond bisect_limit
  std::vector<PipelineObserver*> observers;  // not owned; must outlive the run
  std::vector<PassEntry> custom_passes;      // the embedder's, which run after the built-in ones
};

// The precisions of models: kFullPrecision, with which floats stay as they are, then the words of
// PassEntry::precision, in the order of the passes.
inline constexpr std::string_view kFullPrecision = "f32";
std::vector<std::string_view> Precisions();
// Switches the pass of a precision on, for graphs of any size. INVALID_ARGUMENT for a word that is
// none, and, but for kFullPrecision, if options.passes has a list.
absl::Status SetPrecision(std::string_view word, PipelineOptions& options);

// One row for each run of a pass; a pass that the order has twice runs twice in an iteration. A
// pass that found nothing, and after which nothing changed, has a row of time 0 without a run. A
// skipped pass has a row for each place in the order, in iteration 0 only. The command line's JSON
// uses the names of these fields.
struct PassReport {
  std::string name;
  std::string function;  // the pass worked on the body of this function; empty: on the graph
  int iteration = 0;
  bool changed = false;
  bool skipped = false;
  bool failed = false;  // the pass was rolled back for a fault of the pass
  // The pass was rolled back, but not for a fault of the pass: its result showed that the graph can
  // only fail, and the run is to say so. `failed` is then false.
  bool left_undone = false;
  std::string reason;        // why the pass was skipped or rolled back
  std::string budget_spent;  // "1000 rewrites": the limit that made the pass leave work undone
  int64_t time_us = 0;       // of the pass alone, and of OnRewrite of the observers
  int64_t nodes_before = 0, nodes_after = 0;
  int64_t edges_before = 0, edges_after = 0;  // data and control
  int64_t bytes_before = 0, bytes_after = 0;  // encoded size of constants
  // Applications by name, sorted by name; also those of a pass that was rolled back.
  std::vector<std::pair<std::string, int64_t>> rewrites;
  // Nodes that a pass for lower precision left as they are, and why.
  std::vector<std::pair<std::string, std::string>> notes;
};

struct PipelineReport {
  std::vector<PassReport> passes;
  int64_t nodes_before = 0, nodes_after = 0;
  int64_t rewrites_left = INT64_MAX;  // what is left of bisect_limit
  int64_t grown = 0, worked = 0;      // the values for PipelineOptions of the next run
};

// A plug-in's pass (optimizer_api implements it). Runs after the built-in passes, unless
// PipelineOptions::passes has another order, in every iteration, even where the built-in passes
// changed nothing, as in TensorFlow. Once it has failed, it runs only in iterations that follow one
// in which some pass changed the graph.
class FinalPass {
 public:
  virtual ~FinalPass() = default;
  virtual std::string name() const = 0;  // "plugin:APU"
  // Returns whether the graph changed. If so, `graph` is an edited copy that shares its storage
  // with the old one, and surviving nodes keep their ids. On an error `graph` is as it was.
  virtual absl::StatusOr<bool> Run(Graph& graph) = 0;
};

// What the caller knows of the graph. Pointers are not owned and must outlive the run; `evaluator`
// and `kernels` must not be null, the others may be.
struct PipelineInput {
  std::string_view function;             // the graph is the body of this function; empty: of none
  const CallingGraph* caller = nullptr;  // the graph that calls `function`
  absl::Span<const Output> fetches;
  absl::flat_hash_set<NodeId> feeds;  // nodes that every run feeds
  absl::flat_hash_set<NodeId> keep;   // further nodes to preserve
  NodeEvaluator* evaluator = nullptr;
  const KernelOracle* kernels = nullptr;
  CallInliner* inliner = nullptr;  // null: calls stay
  HasFixedDevice fixed_device;     // empty: no node has a fixed device
  std::string_view caller_device;  // as in PassContext
  std::vector<FinalPass*> final_passes;
};

// Runs the passes that bring nodes (PassEntry::brings_nodes), once, before nodes are placed,
// whatever the size of the graph. Each pass is checked by itself. Node ids, rollback, report and
// errors are as in RunPipeline. input.final_passes must be empty.
absl::StatusOr<PipelineReport> RunUnplacedPasses(Graph& graph, const PipelineInput& input,
                                                 const PipelineOptions& options);

// Runs all other passes on `graph`, in place. Surviving nodes keep their ids. If a pass fails, or
// its result does not verify, the pipeline rolls the pass back, reports it and goes on; with
// fail_on_errors the run returns the error, and `graph` is as before that pass. Without final
// passes, verify_each and observers of every pass, the result is verified once at the end. Only if
// it does not verify, or a pass fails, everything runs again with a check after each pass.
// INVALID_ARGUMENT, with the closest known name if any, for an unknown name of a pass or rewrite in
// `passes`, `disabled_passes`, `enabled_passes`, `disabled_rewrites` or `beyond_limit`: then
// nothing has run. Unknown options of a pass, nodes in `beyond_limit` and names in
// `plugin_disabled` have no effect.
absl::StatusOr<PipelineReport> RunPipeline(Graph& graph, const PipelineInput& input,
                                           const PipelineOptions& options);

}  // namespace tenon
