#include "grappler_lite/pass.h"

namespace tenon {

// The order in which passes run, first to last, in every iteration.
absl::Span<const PassEntry> PassOrder() {
  static constexpr PassEntry kOrder[] = {
      {"model_pruning", MakeModelPruning, "remove what no fetch needs; bypass identities",
       Exactness::kExact},
      {"common_subgraph_elimination", MakeCommonSubgraphElimination,
       "merge nodes that compute the same", Exactness::kExact},
      {"constant_folding", MakeConstantFolding,
       "compute what depends on constants and known shapes only", Exactness::kExact},
      {"arithmetic_optimization", MakeArithmeticOptimization,
       "remove arithmetic and data movement that cancels out", Exactness::kToleranced},
      {"remapping", MakeRemapping, "fuse MatMul and convolution with what follows them",
       Exactness::kToleranced},
      {"model_pruning", MakeModelPruning, "remove what the others left behind", Exactness::kExact},
  };
  return kOrder;
}

}  // namespace tenon
