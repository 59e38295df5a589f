// Watching the optimizer: prints, dumps, limits, and what is left of a pass that fails.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kMlp[] = "tests/golden/models/mlp/graph.pbtxt";

TEST(OptWatch, BisectLinesAreLlvms) {
  const Finished run = GraphRun({"opt", kMlp, "--bisect-limit", "1"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err,
              StartsWith("BISECT: running pass (1) model_pruning.bypass_identity on node "));
  EXPECT_THAT(run.err, HasSubstr("\nBISECT: NOT running pass (2) "));
  const Finished all = GraphRun({"opt", kMlp, "--bisect-limit", "-1"});
  EXPECT_THAT(all.err, HasSubstr("BISECT: running pass (2) "));
  EXPECT_THAT(all.err, Not(HasSubstr("NOT running")));
  EXPECT_EQ(GraphRun({"opt", kMlp}).err, "");
}

TEST(OptWatch, PrintsGraphsAndWhatChanged) {
  const Finished run = GraphRun({"opt", kMlp, "--print-changed=diff", "--print-before", "remapping",
                                 "--print-after", "remapping", "--json"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(json::accept(run.out));
  EXPECT_THAT(run.err, HasSubstr("*** graph changed by model_pruning, round 1 ***\n- "));
  EXPECT_THAT(run.err, HasSubstr("\n+ sequential_1/dense_1/Relu = _FusedMatMul(x, "));
  EXPECT_THAT(run.err, HasSubstr("*** graph before remapping, round 1 ***\nx = Placeholder() "));
  EXPECT_THAT(run.err, HasSubstr("*** graph after remapping, round 1 ***\nx = Placeholder() "));
  EXPECT_THAT(GraphRun({"opt", kMlp, "--print-changed"}).err,
              HasSubstr("*** graph after model_pruning, round 1 ***\nx = Placeholder() "));
  EXPECT_EQ(GraphRun({"opt", kMlp, "--print-before", "remaping"}).exit, 2);
}

TEST(OptWatch, DumpsAreGraphsThatCanBeRead) {
  const std::string folder = TempPath("dump");
  std::filesystem::remove_all(folder);
  ASSERT_EQ(GraphRun({"opt", kMlp, "--dump-dir", folder}).exit, 0);
  EXPECT_EQ(GraphRun({"lint", folder + "/001_model_pruning_before.pbtxt"}).exit, 0);
  EXPECT_EQ(ReadFile(folder + "/001_model_pruning_after.pbtxt"),
            ReadFile(folder + "/002_common_subgraph_elimination_before.pbtxt"));
  EXPECT_THAT(ReadFile(folder + "/001_model_pruning_before.dot"),
              HasSubstr("label=\"x\\nPlaceholder\""));
  const Finished nowhere = GraphRun({"opt", kMlp, "--dump-dir", "/dev/null/x"});
  EXPECT_EQ(nowhere.exit, 0);
  EXPECT_THAT(nowhere.err, HasSubstr("warning: --dump-dir: /dev/null/x: "));
}

TEST(OptWatch, PassesRunAsWritten) {
  const Finished run =
      GraphRun({"opt", kMlp, "--passes", "remapping(max_rewrites=1),model_pruning", "--json"});
  EXPECT_EQ(run.exit, 0) << run.err;
  const json passes = json::parse(run.out)["passes"];
  EXPECT_EQ(passes[0]["name"], "remapping");
  EXPECT_EQ(passes[0]["budget_spent"], "1 rewrites");
  EXPECT_EQ(passes[1]["name"], "model_pruning");
  EXPECT_LE(passes.size(), 4u);
}

TEST(OptWatch, AFailedPassLeavesWhatItWasGiven) {
  const std::string folder = TempPath("failed");
  std::filesystem::remove_all(folder);
  const Finished run = GraphRun(
      {"opt", kMlp, "--plugin", Built("tests/plugins/libpass_two.so"), "--dump-dir", folder});
  EXPECT_EQ(run.exit, 0);
  const size_t at = run.err.find(folder + "/graph_run_");
  ASSERT_NE(at, std::string::npos) << run.err;
  const std::string script = run.err.substr(at, run.err.find(" runs it again", at) - at);
  EXPECT_THAT(ReadFile(script), HasSubstr("# plugin:CPU rolled back: it came to nothing"));
  EXPECT_THAT(ReadFile(script), HasSubstr("\ngraph_run opt '" + folder));
  EXPECT_THAT(ReadFile(script), HasSubstr(" --passes='plugin:CPU' --output='out' --plugin="));
  EXPECT_EQ(GraphRun({"lint", script.substr(0, script.size() - 3) + ".pb"}).exit, 0);
}

}  // namespace
}  // namespace tenon::testing
