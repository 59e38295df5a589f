// What decides on each rewrite that a pass asks for, and keeps count.
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

// Work that one pass may do, in units that are the same on every machine.
struct PassBudget {
  int64_t rewrites = INT64_MAX;
  int64_t visits = INT64_MAX;  // of nodes
};

// One per run of the pipeline, told which pass runs.
class RewriteGate {
 public:
  // `function`: whose body the passes work on; empty: a graph of its own.
  explicit RewriteGate(const PipelineOptions& options, std::string_view function = {});

  void BeginPass(std::string_view pass, PassBudget budget);
  // A rewrite of the running pass at node n (kNoNode: nowhere in particular). Empty: all that a
  // pass from outside does.
  bool Allow(const Graph& graph, std::string_view rewrite, NodeId n);
  bool Visit() { return --visits_left_ >= 0; }

  // Bytes by which constants have grown, in all passes of the run and those before it.
  int64_t grown() const { return grown_; }
  void Grow(int64_t bytes) { grown_ += bytes; }
  // What was computed, as EstimateWork counts, in all passes of the run and those before it.
  int64_t worked() const { return worked_; }
  void Work(int64_t work) { worked_ += work; }
  // The running pass left something undone since it had no more of what `budget` names: "10000000
  // bytes of growth".
  void SayBudgetSpent(std::string budget) { other_budget_spent_ = std::move(budget); }

  // For a second run of the pass, which nobody hears of.
  RewriteGate ForReplay(std::string_view pass, PassBudget budget, const AllowRewrite* allow) const;

  // Of the running pass: allowed rewrites by name, and the budget that it used up, or empty.
  std::vector<std::pair<std::string, int64_t>> Counts() const;
  std::string BudgetSpent() const;
  int64_t left() const { return left_; }  // of the bisect limit

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
