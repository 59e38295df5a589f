// Decides on each rewrite for which a pass asks, and counts rewrites and work.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "grappler_lite/pipeline/observer.h"

namespace tenon {

struct PipelineOptions;

// The work that one run of a pass may do, in units that do not depend on the machine.
struct PassBudget {
  int64_t rewrites = INT64_MAX;
  int64_t visits = INT64_MAX;  // looks at nodes
};

// One gate serves one run of the pipeline, on one thread.
class RewriteGate {
 public:
  // `function`: the passes work on the body of this function; empty: on the graph. `options` and
  // the text of `function` must outlive the gate.
  explicit RewriteGate(const PipelineOptions& options, std::string_view function = {});

  // Names the pass that runs from now on, and resets its counts.
  void BeginPass(std::string_view pass, PassBudget budget);
  // Whether the running pass may apply `rewrite` at node n (kNoNode: to the whole graph), and
  // counts the rewrite if so. Tells the observers, but not of a rewrite that is switched off or
  // beyond the pass's budget. An empty `rewrite` means the whole work of a plug-in's pass.
  bool Allow(const Graph& graph, std::string_view rewrite, NodeId n);
  // Counts one look at a node. False when the budget of looks is spent.
  bool Visit() { return --visits_left_ >= 0; }

  // Bytes by which constants have grown, in this run of the pipeline and in earlier ones.
  int64_t grown() const { return grown_; }
  void Grow(int64_t bytes) { grown_ += bytes; }
  // Work of computing constants, in EstimateWork's units, in this run and in earlier ones.
  int64_t worked() const { return worked_; }
  void Work(int64_t work) { worked_ += work; }
  // States that the running pass left work undone, since it had reached the limit that `budget`
  // names: "10000000 bytes of growth".
  void SayBudgetSpent(std::string budget) { other_budget_spent_ = std::move(budget); }

  // A gate for a replay of the running pass: counts start as they did for the pass, `allow` decides
  // instead of the bisect limit and the keys beyond it, and observers hear nothing. What is
  // switched off stays off. `allow` must outlive the gate.
  RewriteGate ForReplay(std::string_view pass, PassBudget budget, const AllowRewrite* allow) const;

  // For the running pass: the number of allowed rewrites by name, without a plug-in's whole work,
  // and the limit that made the pass leave work undone, as text; empty for none.
  std::vector<std::pair<std::string, int64_t>> Counts() const;
  std::string BudgetSpent() const;
  int64_t left() const { return left_; }  // what is left of the bisect limit

 private:
  bool IsOn(std::string_view rewrite);
  bool Decide(std::string_view rewrite, std::string_view node);

  const PipelineOptions& options_;
  std::string_view function_;
  absl::Span<PipelineObserver* const> observers_;
  const absl::flat_hash_set<std::string> beyond_limit_;
  int64_t left_;  // of the run
  std::string pass_;
  PassBudget budget_;
  int64_t asked_ = 0, done_ = 0, visits_left_ = 0;
  bool refused_by_budget_ = false;
  int64_t grown_, grown_before_pass_;
  int64_t worked_, worked_before_pass_;
  std::string other_budget_spent_;
  absl::flat_hash_map<std::string, int64_t> counts_;
  const AllowRewrite* replay_ = nullptr;
};

}  // namespace tenon
