// TensorFlow's RewriterConfig in terms of our passes.
#include "grappler_lite/pipeline/rewriter_config.h"

#include <gmock/gmock.h>

#include "tests/grappler_lite/pipeline/pipeline_util.h"

namespace tenon::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RewriterSettings Parse(std::string_view text) {
  absl::StatusOr<RewriterSettings> settings = ParseRewriterConfig(text);
  EXPECT_TRUE(settings.ok()) << settings.status();
  return settings.value_or(RewriterSettings());
}

TEST(RewriterConfig, TogglesSwitchPasses) {
  const RewriterSettings settings = Parse(
      "remapping: OFF constant_folding: AGGRESSIVE arithmetic_optimization: ON "
      "function_optimization: DEFAULT disable_model_pruning: true");
  EXPECT_THAT(settings.off, ElementsAre("model_pruning", "remapping"));
  EXPECT_THAT(settings.on, ElementsAre("constant_folding", "arithmetic_optimization"));
  EXPECT_THAT(settings.without_effect, IsEmpty());
  EXPECT_THAT(settings.passes, IsEmpty());
}

TEST(RewriterConfig, ReadsWhatConcernsTheWholePipeline) {
  PipelineOptions options;
  Apply(Parse("meta_optimizer_iterations: ONE min_graph_nodes: -1 fail_on_optimizer_errors: true "
              "use_plugin_optimizers: OFF"),
        options);
  EXPECT_EQ(options.iterations, 1);
  EXPECT_EQ(options.min_graph_nodes, -1);
  EXPECT_TRUE(options.fail_on_errors);
  EXPECT_FALSE(options.use_plugins);
  EXPECT_TRUE(Parse("disable_meta_optimizer: true").no_passes);
  PipelineOptions defaults;
  Apply(Parse(""), defaults);
  EXPECT_EQ(defaults.iterations, 2);
  EXPECT_EQ(defaults.min_graph_nodes, 4);
  EXPECT_TRUE(defaults.use_plugins);
}

TEST(RewriterConfig, OptimizersAreTheseInThisOrderAndPluginsLast) {
  const RewriterSettings settings = Parse("optimizers: 'remap' optimizers: 'constfold'");
  std::vector<std::string> names;
  for (const PassSpec& spec : settings.passes) names.push_back(spec.name);
  EXPECT_THAT(names, ElementsAre("remapping", "constant_folding", "plugin:*"));
}

TEST(RewriterConfig, KnowsTheOldNameOfMixedPrecision) {
  constexpr std::string_view kPass = "auto_mixed_precision_onednn_bfloat16";
  EXPECT_THAT(Parse("auto_mixed_precision_mkl: ON").on, ElementsAre(kPass));
  EXPECT_EQ(Parse("optimizers: 'auto_mixed_precision_mkl'").passes[0].name, kPass);
}

TEST(RewriterConfig, ACustomOptimizerMayBeAPass) {
  const RewriterSettings settings = Parse(
      "auto_mixed_precision_cpu: ON "
      "custom_optimizers { name: 'auto_mixed_precision_onednn_bfloat16' }");
  EXPECT_EQ(settings.on, (std::vector<std::string>{"auto_mixed_precision_cpu",
                                                   "auto_mixed_precision_onednn_bfloat16"}));
  EXPECT_TRUE(settings.without_effect.empty());
}

TEST(RewriterConfig, SaysWhatHasNoEffect) {
  const RewriterSettings settings =
      Parse("meta_optimizer_timeout_ms: 10 custom_optimizers { name: 'Mine' }");
  ASSERT_EQ(settings.without_effect.size(), 2u);
  EXPECT_THAT(settings.without_effect[0], HasSubstr("meta_optimizer_timeout_ms has no effect"));
  EXPECT_THAT(settings.without_effect[1], HasSubstr("'Mine'"));
  for (const std::string_view text :
       {"auto_parallel { enable: true }", "scoped_allocator_opts { enable_op: 'Add' }",
        "scoped_allocator_optimization: ON", "memory_optimization: HEURISTICS",
        "cpu_layout_conversion: NCHW_TO_NHWC", "memory_optimizer_target_node_name_scope: 'g/'",
        "experimental_disable_compressed_tensor_optimization: true",
        "experimental_disable_folding_quantization_emulation: true", "disable_tfg_optimizer: true",
        "inter_optimizer_verifier_config { structure_verifier: ON }"}) {
    EXPECT_EQ(Parse(text).without_effect.size(), 1u) << text;
  }
  EXPECT_THAT(Parse("memory_optimization: NO_MEM_OPT debug_stripper: ON").without_effect,
              IsEmpty());
}

TEST(RewriterConfig, SaysWhereItIsWrong) {
  EXPECT_THAT(ParseRewriterConfig("remapping: ON\nfolding: OFF").status().message(),
              HasSubstr("2:8: "));
  EXPECT_THAT(ParseRewriterConfig("optimizers: 'remaping'").status().message(),
              HasSubstr("did you mean 'remapping'?"));
  EXPECT_THAT(ParseRewriterConfig("remapping: 17").status().message(),
              HasSubstr("remapping: 17 is no value of Toggle"));
}

TEST(RewriterConfig, AFailureCanEndTheRun) {
  class Refusal : public PipelineObserver {
    absl::Status CheckPass(const PassRun&, const Graph&, const ReplayPass&) override {
      return absl::DataLossError("refused");
    }
  };
  Graph graph = GraphOf({"y = Sub(a, b)"});
  PipelineOptions options;
  Refusal refusal;
  options.observers = {&refusal};
  options.custom_passes = {BreakingPass()};
  options.min_graph_nodes = -1;
  options.fail_on_errors = true;
  const absl::Status status = Optimize(graph, {"y"}, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), "pass break: refused");
}

}  // namespace
}  // namespace tenon::testing
