// What the pass function_optimization asks the executor for: calls inlined before the other passes.
#pragma once

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "executor/call_sites.h"
#include "grappler_lite/pass.h"

namespace tenon {

class LoweringInliner : public CallInliner {
 public:
  // `nodes`: that a run computes, calls among them; of those in `fetched` a node with their name
  // and outputs stays. `sites` learns where the new nodes came from.
  LoweringInliner(std::vector<NodeId> nodes, absl::flat_hash_set<NodeId> fetched, CallSites& sites)
      : nodes_(std::move(nodes)), fetched_(std::move(fetched)), sites_(sites) {}

  absl::StatusOr<bool> InlineCalls(Graph& graph, absl::FunctionRef<bool()> allow) override;

 private:
  std::vector<NodeId> nodes_;
  const absl::flat_hash_set<NodeId> fetched_;
  CallSites& sites_;
};

}  // namespace tenon
