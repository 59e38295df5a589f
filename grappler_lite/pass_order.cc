#include "absl/strings/str_cat.h"
#include "graph/closest.h"
#include "grappler_lite/pass.h"

namespace tenon {
namespace {

absl::Status CheckKnown(std::string_view what, std::string_view name,
                        const std::vector<std::string>& known) {
  ClosestName closest(name);
  for (const std::string& candidate : known) closest.Offer(candidate);
  if (closest.best() == name) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("there is no ", what, " '", name, "'",
                                                 closest.Hint(),
                                                 "; graph_run opt --list-passes lists them"));
}

}  // namespace

// The order in which passes run, first to last, in every iteration; those that bring nodes once,
// before.
absl::Span<const PassEntry> PassOrder() {
  static constexpr PassEntry kOrder[] = {
      {"function_optimization", MakeFunctionOptimization, "inline calls of functions", true},
      {"model_pruning", MakeModelPruning, "remove what no fetch needs; bypass identities"},
      {"common_subgraph_elimination", MakeCommonSubgraphElimination,
       "merge nodes that compute the same"},
      {"constant_folding", MakeConstantFolding,
       "compute what depends on constants and known shapes only"},
      {"arithmetic_optimization", MakeArithmeticOptimization,
       "remove arithmetic and data movement that cancels out"},
      {"remapping", MakeRemapping, "fuse MatMul and convolution with what follows them"},
      {"model_pruning", MakeModelPruning, "remove what the others left behind"},
  };
  return kOrder;
}

absl::Status CheckPassName(std::string_view name, absl::Span<const PassEntry> custom) {
  if (name.starts_with("plugin:")) return absl::OkStatus();
  std::vector<std::string> known;
  for (absl::Span<const PassEntry> passes : {PassOrder(), custom}) {
    for (const PassEntry& pass : passes) known.emplace_back(pass.name);
  }
  return CheckKnown("pass", name, known);
}

absl::Status CheckRewriteName(std::string_view name, absl::Span<const PassEntry> custom) {
  std::vector<std::string> known;
  for (absl::Span<const PassEntry> passes : {PassOrder(), custom}) {
    for (const PassEntry& pass : passes) {
      for (const RewriteInfo& rewrite : pass.make()->rewrites())
        known.push_back(absl::StrCat(pass.name, ".", rewrite.name));
    }
  }
  return CheckKnown("rewrite", name, known);
}

}  // namespace tenon
