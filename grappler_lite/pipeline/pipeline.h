// Runs the passes in order, times them, checks their work and reports what each did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/observer.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/pass_spec.h"

namespace tenon {

struct PipelineOptions {
  int iterations = 2;           // after one that changes nothing only final passes run
  int64_t min_graph_nodes = 4;  // smaller graphs are returned untouched; -1: none is too small
  // If not empty, these passes in this order, and no others. "plugin:TYPE" stands for the pass of a
  // plug-in, "plugin:*" for all of them.
  std::vector<PassSpec> passes;
  std::vector<std::string> disabled_passes;
  std::vector<std::string> enabled_passes;     // of those that are off unless asked for
  std::vector<std::string> disabled_rewrites;  // "constant_folding.fold"
  // Passes that a plug-in's optimizer configuration switched off, with the reason for the report.
  std::vector<std::pair<std::string, std::string>> plugin_disabled;
  bool use_plugins = true;      // their passes, and what they switch off
  bool fail_on_errors = false;  // a pass that fails ends the run, instead of being rolled back
  bool verify_each = false;     // verify the graph after each pass, not only at the end
  bool fast_math = false;
  Target target;
  int64_t bisect_limit = INT64_MAX;  // rewrites in all; the work of a plug-in's pass counts as one
  int64_t grown =
      0;  // bytes that constants have grown by in runs before, of the graph or of bodies
  int64_t worked = 0;                        // what these have computed, as EstimateWork counts
  std::vector<std::string> beyond_limit;     // RewriteKeys that are allowed all the same
  std::vector<PipelineObserver*> observers;  // outlive the run
  std::vector<PassEntry> custom_passes;      // of the embedder: after the built-in ones
};

// One row per pass and iteration. Keys of the command line's JSON have the same names.
struct PassReport {
  std::string name;
  std::string function;  // whose body it worked on; empty: the graph
  int iteration = 0;
  bool changed = false;
  bool skipped = false;
  bool failed = false;       // rolled back
  std::string reason;        // why skipped, or why rolled back
  std::string budget_spent;  // "1000 rewrites", where the pass left something undone for that
  int64_t time_us = 0;
  int64_t nodes_before = 0, nodes_after = 0;
  int64_t edges_before = 0, edges_after = 0;
  int64_t bytes_before = 0, bytes_after = 0;  // of constants, as they are encoded
  std::vector<std::pair<std::string, int64_t>> rewrites;
};

struct PipelineReport {
  std::vector<PassReport> passes;
  int64_t nodes_before = 0, nodes_after = 0;
  int64_t rewrites_left = INT64_MAX;  // of the bisect limit
  int64_t grown = 0, worked = 0;      // those of PipelineOptions for a run that follows
};

// A pass that runs after the built-in ones in every iteration: a plug-in's (optimizer_api).
class FinalPass {
 public:
  virtual ~FinalPass() = default;
  virtual std::string name() const = 0;  // "plugin:APU"
  // Whether the graph changed: it is an edited copy then, which shares its storage, and nodes that
  // stay have their ids. On an error it is as it was.
  virtual absl::StatusOr<bool> Run(Graph& graph) = 0;
};

struct PipelineInput {
  std::string_view function;             // whose body the graph is; empty: none's
  const CallingGraph* caller = nullptr;  // of that function
  absl::Span<const Output> fetches;
  absl::flat_hash_set<NodeId> feeds;
  absl::flat_hash_set<NodeId> keep;  // further nodes to preserve
  NodeEvaluator* evaluator = nullptr;
  const KernelOracle* kernels = nullptr;
  CallInliner* inliner = nullptr;
  HasFixedDevice fixed_device;     // none: no node has one
  std::string_view caller_device;  // as in PassContext
  std::vector<FinalPass*> final_passes;
};

// The passes that bring nodes: before nodes are placed, once, whatever the size of the graph. Node
// ids stay; rolled back and reported as below.
absl::StatusOr<PipelineReport> RunUnplacedPasses(Graph& graph, const PipelineInput& input,
                                                 const PipelineOptions& options);

// All others. Optimizes in place. A pass that fails, or whose result does not verify, is rolled
// back and reported; the pipeline goes on. Node ids stay. INVALID_ARGUMENT for an unknown pass or
// rewrite in the options (with the closest known one).
absl::StatusOr<PipelineReport> RunPipeline(Graph& graph, const PipelineInput& input,
                                           const PipelineOptions& options);

}  // namespace tenon
