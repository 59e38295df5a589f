// Lets the other passes see what called functions do: their bodies take the place of the calls, and
// so do the branches of which it is known that they are chosen.
#include "graph/base/status_macros.h"
#include "grappler_lite/passes/constant_folding/constant_branches.h"
#include "grappler_lite/passes/implementation_selector.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {
namespace {

constexpr RewriteInfo kInlineCall = {"inline_call", Exactness::kExact};

class FunctionOptimization : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override {
    std::vector<RewriteInfo> all = ConstantBranches();
    all.insert(all.end(), {BranchSelection(), kInlineCall});
    return all;
  }

  absl::StatusOr<bool> Run(PassContext& context) override {
    if (context.inliner == nullptr) return false;
    const auto allow = [&] { return context.Allow(kInlineCall.name); };
    bool changed = FoldConstantBranches(context);
    // Bodies may hold branches that are chosen, and these calls.
    for (bool folded = true; folded;) {
      TENON_ASSIGN_OR_RETURN(const bool inlined,
                             context.inliner->InlineCalls(context.graph, allow));
      if (inlined) SelectBranches(context);
      folded = inlined && FoldConstantBranches(context);
      changed |= inlined;
    }
    if (std::string spent = context.inliner->BudgetSpent(); !spent.empty())
      context.gate.SayBudgetSpent(std::move(spent));
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeFunctionOptimization() {
  return std::make_unique<FunctionOptimization>();
}

}  // namespace tenon
