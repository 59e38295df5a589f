// NoOps come first, since they make nodes that bypassing removes. Bypassing and the reduction of
// control edges then take turns while edges go.

#include "grappler_lite/passes/dependency_optimization/dependency_optimization.h"

#include "graph/base/status_macros.h"

namespace tenon {
namespace {

constexpr int kMostRounds = 4;

class DependencyOptimization : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override {
    return {kDropNeedlessControl,   kTurnIntoNoOp,    kBypassNoOp,
            kBypassAwaitedIdentity, kBypassIdentityN, kReduceTransitively};
  }
  absl::StatusOr<bool> Run(PassContext& context) override {
    TENON_ASSIGN_OR_RETURN(bool changed, TurnIntoNoOps(context));
    for (int round = 0; round < kMostRounds; ++round) {
      TENON_ASSIGN_OR_RETURN(const bool bypassed, BypassWaiting(context));
      TENON_ASSIGN_OR_RETURN(const bool reduced, ReduceControlEdges(context));
      changed |= bypassed || reduced;
      // A node of fewer edges may be bypassed now.
      if (!reduced) break;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeDependencyOptimization() {
  return std::make_unique<DependencyOptimization>();
}

}  // namespace tenon
