// Inlines calls for the pass function_optimization, before the other passes run.
#pragma once

#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "executor/lowering/call_sites.h"
#include "executor/lowering/inline_budget.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

// Works on one graph: each call of InlineCalls must get the same graph; those of a fork, a copy of
// it. Not thread-safe.
class LoweringInliner : public CallInliner {
 public:
  // `nodes`: the nodes that a run computes, best with producers first (Lowering::Run); calls among
  // them are inlined, but for those that input.feeds or Lowering::CallsOnly excludes. If a call of
  // input.fetches is inlined, a node with its name and outputs stays. Without fetches every node of
  // the graph counts as run. `sites` records the origin of the new nodes. `budget` is for all calls
  // of a graph, or of all bodies. `sites` and `budget` are borrowed and must outlive the inliner;
  // `nodes` and the feeds and fetches of `input` are copied, and the rest of `input` is not read. A
  // fork owns copies of `sites` and `budget`.
  LoweringInliner(absl::Span<const NodeId> nodes, const PipelineInput& input, CallSites& sites,
                  InlineBudget& budget);

  absl::StatusOr<bool> InlineCalls(Graph& graph, absl::FunctionRef<bool()> allow) override;
  std::unique_ptr<CallInliner> Fork() const override;
  std::string BudgetSpent() const override { return budget_->spent(); }

 private:
  std::vector<NodeId> nodes_;
  std::vector<Output> fetches_;
  absl::flat_hash_set<NodeId> feeds_, fetched_, read_;
  struct Own {
    CallSites sites;
    InlineBudget budget;
  };
  std::shared_ptr<Own> own_;  // of a fork; null in the original
  CallSites* sites_;
  InlineBudget* budget_;
};

}  // namespace tenon
