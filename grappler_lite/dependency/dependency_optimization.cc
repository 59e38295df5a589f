#include "grappler_lite/dependency/dependency_optimization.h"

#include "graph/status_macros.h"

namespace tenon {
namespace {

class DependencyOptimization : public Pass {
 public:
  std::string_view name() const override { return "dependency_optimization"; }
  std::vector<RewriteInfo> rewrites() const override {
    return {kDropNeedlessControl,   kTurnIntoNoOp,    kBypassNoOp,
            kBypassAwaitedIdentity, kBypassIdentityN, kReduceTransitively};
  }
  absl::StatusOr<bool> Run(PassContext& context) override {
    TENON_ASSIGN_OR_RETURN(const bool bypassed, BypassWaiting(context));
    TENON_ASSIGN_OR_RETURN(const bool reduced, ReduceControlEdges(context));
    return bypassed || reduced;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeDependencyOptimization() {
  return std::make_unique<DependencyOptimization>();
}

}  // namespace tenon
