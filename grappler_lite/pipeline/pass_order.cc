// The table of passes. Names are those of TensorFlow's RewriterConfig where TensorFlow has the
// pass.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/closest.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

// Each is defined at the end of the pass's own source.
std::unique_ptr<Pass> MakeImplementationSelector();
std::unique_ptr<Pass> MakeFunctionOptimization();
std::unique_ptr<Pass> MakeModelPruning();
std::unique_ptr<Pass> MakeCommonSubgraphElimination();
std::unique_ptr<Pass> MakeDebugStripper();
std::unique_ptr<Pass> MakeConstantFolding();
std::unique_ptr<Pass> MakeShapeOptimization();
std::unique_ptr<Pass> MakeAutoMixedPrecisionBfloat16();
std::unique_ptr<Pass> MakeAutoMixedPrecisionHalf();
std::unique_ptr<Pass> MakePinToHostOptimization();
std::unique_ptr<Pass> MakeArithmeticOptimization();
std::unique_ptr<Pass> MakeLayoutOptimizer();
std::unique_ptr<Pass> MakeRemapping();
std::unique_ptr<Pass> MakeStaticQuantization();
std::unique_ptr<Pass> MakeDynamicInt8();
std::unique_ptr<Pass> MakeInt8Weights();
std::unique_ptr<Pass> MakeInt4Weights();
std::unique_ptr<Pass> MakeLoopOptimization();
std::unique_ptr<Pass> MakeDependencyOptimization();
std::unique_ptr<Pass> MakeFunctionSpecialization();

namespace {

absl::Status CheckKnown(std::string_view what, std::string_view name,
                        const std::vector<std::string>& known) {
  ClosestName closest(name);
  for (const std::string& candidate : known) closest.Offer(candidate);
  if (closest.found()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("there is no ", what, " '", name, "'",
                                                 closest.Hint(),
                                                 "; graph_run opt --list-passes lists them"));
}

// A pass that TensorFlow has, and for which there is nothing to do here.
// Its name stays known, since TensorFlow's configurations may hold it. See PassEntry::off.
class Nothing : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return {}; }
  absl::StatusOr<bool> Run(PassContext& /*context*/) override { return false; }
};
std::unique_ptr<Pass> MakeNothing() { return std::make_unique<Nothing>(); }

}  // namespace

// The order in which passes run, first to last, in every iteration; those that bring nodes run
// once, before the others. layout_optimizer comes before remapping, since kernels of fused
// convolutions want channels last. model_pruning comes twice: the last one removes what the others
// left unread.
absl::Span<const PassEntry> PassOrder() {
  static constexpr std::string_view kNoGpu =
      "it serves GPUs, and TensorFlow's device types at that";
  static constexpr std::string_view kChangesNumbers =
      "it changes numbers; models are run in the types that they name";
  static constexpr PassEntry kOrder[] = {
      {"implementation_selector", MakeImplementationSelector,
       "call the variant of a function that is for the device", true},
      {"function_optimization", MakeFunctionOptimization, "inline calls of functions", true},
      {"model_pruning", MakeModelPruning, "remove what no fetch needs; bypass identities"},
      {"common_subgraph_elimination", MakeCommonSubgraphElimination,
       "merge nodes that compute the same"},
      {"debug_stripper", MakeDebugStripper, "remove checks and prints", false,
       "it takes checks out; name it in --passes to run it"},
      {"constant_folding", MakeConstantFolding,
       "compute what depends on constants and known shapes only"},
      {"shape_optimization", MakeShapeOptimization, "compute sizes from sizes"},
      {"auto_mixed_precision", MakeNothing, "lower precision on GPUs", false, kNoGpu},
      {"auto_mixed_precision_onednn_bfloat16", MakeAutoMixedPrecisionBfloat16,
       "products in bfloat16, to about 2 digits", false, kChangesNumbers, "", "bf16"},
      {"auto_mixed_precision_cpu", MakeAutoMixedPrecisionHalf,
       "products in half, to about 3 digits, up to 65504", false, kChangesNumbers, "", "f16"},
      {"pin_to_host_optimization", MakePinToHostOptimization,
       "a handful of numbers from devices to the CPU", false,
       "it moves work away from devices; name it in --passes to run it"},
      {"arithmetic_optimization", MakeArithmeticOptimization,
       "remove arithmetic and data movement that cancels out"},
      {"layout_optimizer", MakeLayoutOptimizer, "give images of convolutions channels last"},
      {"remapping", MakeRemapping, "fuse MatMul and convolution with what follows them"},
      {"static_quantization", MakeStaticQuantization,
       "products and convolutions in 8 bits, of what the graph itself rounds to 8 bits", false,
       kChangesNumbers, "", "int8"},
      {"dynamic_quantization", MakeDynamicInt8,
       "products and convolutions by constant weights in 8 bits, of what becomes 8 bits in the run",
       false, kChangesNumbers, "", "int8-dynamic"},
      {"weight_only_int8", MakeInt8Weights,
       "products with constant weights that are kept in 8 bits", false, kChangesNumbers, "", "w8"},
      {"weight_only_int4", MakeInt4Weights,
       "products with constant weights that are kept in 4 bits", false, kChangesNumbers, "", "w4"},
      {"loop_optimization", MakeLoopOptimization,
       "move what stays the same out of loops; remove branches that are never taken"},
      {"dependency_optimization", MakeDependencyOptimization,
       "remove control edges and nodes that only wait"},
      {"memory_optimization", MakeNothing, "recompute or swap out activations", false,
       "it works on gradients; memory is planned when the graph is"},
      {"scoped_allocator_optimization", MakeNothing, "merge inputs of collective ops", false,
       "nothing is exchanged with other hosts"},
      {"auto_parallel", MakeNothing, "replicate training over GPUs", false, kNoGpu},
      {"function_specialization", MakeFunctionSpecialization,
       "give calls, branches and loops functions that take and give no more than is used", false,
       "", "function_optimization"},
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

std::vector<std::string_view> Precisions() {
  std::vector<std::string_view> words = {kFullPrecision};
  for (const PassEntry& pass : PassOrder()) {
    if (!pass.precision.empty()) words.push_back(pass.precision);
  }
  return words;
}

absl::Status SetPrecision(std::string_view word, PipelineOptions& options) {
  if (word == kFullPrecision) return absl::OkStatus();
  const auto passes = PassOrder();
  const auto pass = std::ranges::find(passes, word, &PassEntry::precision);
  if (word.empty() || pass == passes.end()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no precision '", word, "'; there are ",
                                                   absl::StrJoin(Precisions(), ", ")));
  }
  if (!options.passes.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "precision ", word, " is the pass ", pass->name,
        ", and the passes are listed already: write it where it is to run among them"));
  }
  options.enabled_passes.emplace_back(pass->name);
  options.min_graph_nodes = -1;
  return absl::OkStatus();
}

}  // namespace tenon
