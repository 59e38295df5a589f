// Lets the other passes see what called functions do: their bodies take the place of the calls.
#include "grappler_lite/pass.h"

namespace tenon {
namespace {

constexpr RewriteInfo kInlineCall = {"inline_call", Exactness::kExact};

class FunctionOptimization : public Pass {
 public:
  std::string_view name() const override { return "function_optimization"; }
  std::vector<RewriteInfo> rewrites() const override { return {kInlineCall}; }

  absl::StatusOr<bool> Run(PassContext& context) override {
    if (context.inliner == nullptr) return false;
    return context.inliner->InlineCalls(context.graph,
                                        [&] { return context.Allow(kInlineCall.name); });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeFunctionOptimization() {
  return std::make_unique<FunctionOptimization>();
}

}  // namespace tenon
