// What the pass function_optimization asks the executor for: calls inlined before the other passes.
#pragma once

#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "executor/lowering/call_sites.h"
#include "executor/lowering/inline_budget.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

class LoweringInliner : public CallInliner {
 public:
  // `nodes`: that a run computes, calls among them. Those that are fed stay; of those that are
  // fetched a node with their name and outputs does. `sites` learns where the new nodes came from.
  // `budget` is for all calls of a graph, or of all bodies.
  LoweringInliner(absl::Span<const NodeId> nodes, const PipelineInput& input, CallSites& sites,
                  InlineBudget& budget);

  absl::StatusOr<bool> InlineCalls(Graph& graph, absl::FunctionRef<bool()> allow) override;
  std::unique_ptr<CallInliner> Fork() const override;
  std::string BudgetSpent() const override { return budget_->spent(); }

 private:
  std::vector<bool> Running(const Graph& graph) const;

  std::vector<NodeId> nodes_;
  absl::flat_hash_set<NodeId> feeds_, fetched_, read_;
  struct Own {
    CallSites sites;
    InlineBudget budget;
  };
  std::shared_ptr<Own> own_;  // of a fork
  CallSites* sites_;
  InlineBudget* budget_;
};

}  // namespace tenon
