// Arithmetic and data movement that changes nothing, cancels out, or can be said in a cheaper way.
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {
namespace {

// All rewrites; of those that look at one op, earlier ones are tried first.
std::span<const Rewrite> AllRewrites() {
  using namespace arithmetic;  // NOLINT: a list of its themes
  static const auto* const kAll = [] {
    auto* all = new std::vector<Rewrite>;
    for (std::span<const Rewrite> theme :
         {NeutralElements(), Decided(), InversePairs(), Casts(), Reshapes(), Transposes(), Lists(),
          Hoisting(), Reductions(), Gradients(), Aggregation(), Functions(), Segments(),
          Contractions()})
      all->insert(all->end(), theme.begin(), theme.end());
    return all;
  }();
  return *kAll;
}

class ArithmeticOptimization : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return InfosOf(AllRewrites()); }

  absl::StatusOr<bool> Run(PassContext& context) override {
    return Sweep(context, InferShapes(context)).Run(AllRewrites());
  }
};

}  // namespace

std::unique_ptr<Pass> MakeArithmeticOptimization() {
  return std::make_unique<ArithmeticOptimization>();
}

}  // namespace tenon
