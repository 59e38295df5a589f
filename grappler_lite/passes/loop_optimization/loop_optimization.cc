#include "grappler_lite/passes/loop_optimization/loop_optimization.h"

#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

class LoopOptimization : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override {
    return {kRemoveDeadBranch, kRemoveDeadLoop, kHoistInvariant, kRemoveStackPush};
  }

  absl::StatusOr<bool> Run(PassContext& context) override {
    const Graph& g = context.graph;
    // One look spares most graphs, which have no control flow, three sweeps.
    bool has_switch = false, has_loop = false, has_stack = false;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n)) continue;
      has_switch |= IsSwitch(g.facts(n));
      has_loop |= IsEnter(g.facts(n));
      has_stack |= g.op_name(n).starts_with("Stack");
    }
    bool changed = has_switch && RemoveDeadBranches(context);
    if (has_loop) {
      TENON_ASSIGN_OR_RETURN(const bool hoisted, HoistInvariants(context));
      changed |= hoisted;
    }
    if (has_stack) changed |= RemoveStackPushes(context);
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeLoopOptimization() { return std::make_unique<LoopOptimization>(); }

}  // namespace tenon
