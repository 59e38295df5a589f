// The executor's service for the pass function_optimization: inlines calls before the other passes.
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
  // `nodes`: the nodes that a run computes. A call that is fed is not inlined. If a call is
  // fetched, a node with its name and outputs stays. `sites` records the origin of the new nodes.
  // `budget` is for all calls of a graph, or of all bodies. `sites` and `budget` must outlive the
  // inliner.
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
