// opt --emit stablehlo: the file that it writes, and what it says.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace emit_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string Content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Emit, WritesAProgram) {
  const std::string out = TempPath("mlp.mlir");
  const json doc = Document({"opt", kMlp, "--emit", "stablehlo", "--shape", "x=8x20", "-o", out});
  EXPECT_EQ(doc["emitted"], out);
  EXPECT_EQ(doc["parameters"][0]["kind"], "argument");
  EXPECT_EQ(doc["parameters"][0]["shape"], "[8,20]");
  EXPECT_EQ(doc["parameters"][1]["kind"], "weight");
  const std::string text = Content(out);
  EXPECT_THAT(text, HasSubstr("func.func public @main(%arg0: tensor<8x20xf32>"));
  EXPECT_THAT(text, HasSubstr("stablehlo.dot_general"));
  // The weights lie beside it: the first one has the elements of its node.
  EXPECT_THAT(text, HasSubstr("%w0"));
  const std::string node = doc["parameters"][1]["name"];
  const Finished same = GraphRun(
      {"run", kMlp, "--output", node, "--expect", node + "=@" + TempPath("mlp.npz") + "[w0]"});
  EXPECT_EQ(same.exit, 0) << same.out << same.err;
}

TEST(Emit, TakesOneForOpenSizes) {
  const Finished run = GraphRun({"opt", kMlp, "--emit", "stablehlo"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("x is taken as [1,20]; --shape NAME=DIMS says otherwise"));
  EXPECT_THAT(run.out, HasSubstr("add -o OUT.mlir to write it"));
}

TEST(Emit, RefusesOtherFilesAndShapes) {
  EXPECT_EQ(GraphRun({"opt", kMlp, "--emit", "stablehlo", "-o", TempPath("x.pb")}).exit, 2);
  EXPECT_EQ(GraphRun({"opt", kMlp, "-o", TempPath("x.mlir")}).exit, 2);
  const Finished run = GraphRun({"opt", kMlp, "--emit", "stablehlo", "--shape", "x=8x21"});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("'x' has shape [?,20], not [8,21]"));
  EXPECT_EQ(GraphRun({"opt", kMlp, "--emit", "stablehlo", "--shape", "x=8xy"}).exit, 2);
}

// A graph that cannot be lowered names the node.
TEST(Emit, NamesTheNodeThatHasNoLowering) {
  const Finished run =
      GraphRun({"opt", "tests/golden/models/v1_control_flow/graph.pbtxt", "--emit", "stablehlo"});
  EXPECT_NE(run.exit, 0);
}

}  // namespace
}  // namespace emit_test
}  // namespace tenon::testing
