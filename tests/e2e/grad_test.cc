// graph_run grad and check --gradients, as a user starts them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// y = x * w, and n that depends on neither.
std::string Product() {
  return TempFile("product.pbtxt", R"(
node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'shape' value { shape { dim { size: 2 } } } } }
node { name: 'w' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 3 } } } }
node { name: 'y' op: 'Mul' input: 'x' input: 'w' attr { key: 'T' value { type: DT_FLOAT } } }
node { name: 'odd' op: 'TruncateMod' input: 'y' input: 'y' attr { key: 'T' value { type: DT_FLOAT } } }
node { name: 'loss' op: 'Neg' input: 'odd' attr { key: 'T' value { type: DT_FLOAT } } }
node { name: 'two' op: 'Unpack' input: 'x' attr { key: 'T' value { type: DT_FLOAT } }
       attr { key: 'num' value { i: 2 } } }
node { name: 'first' op: 'Exp' input: 'two:1' attr { key: 'T' value { type: DT_FLOAT } } }
)");
}

TEST(Grad, WritesAGraphThatRuns) {
  const std::string out = TempPath("grad.pbtxt");
  const json doc = Document({"grad", Product(), "--of", "y", "--wrt", "x,w", "-o", out});
  EXPECT_EQ(doc["gradients"],
            json::parse(R"([{"of":"x","node":"grad/x"},{"of":"w","node":"grad/w"}])"));
  EXPECT_EQ(doc["written"], out);
  const Finished run = GraphRun({"run", out, "--input", "x=2xf32=5,7", "--expect", "grad/x=2xf32=3",
                                 "--expect", "grad/w=12"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(Grad, TakesAGradientOfTheResult) {
  const std::string out = TempPath("weighted.pb");
  Document({"grad", Product(), "--of", "y", "--wrt", "w", "--grad-of", "y=x", "-o", out});
  const Finished run = GraphRun({"run", out, "--input", "x=2xf32=5,7", "--expect", "grad/w=74"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(Grad, NamesTheGradientOfAnOutput) {
  const std::string out = TempPath("port.pbtxt");
  const json doc = Document({"grad", Product(), "--of", "first", "--wrt", "two:1,two", "-o", out});
  EXPECT_EQ(doc["gradients"],
            json::parse(R"([{"of":"two:1","node":"grad/two_1"},{"of":"two","node":null}])"));
}

// The second derivative of exp: the first one's graph is differentiated again.
TEST(Grad, OfAGradient) {
  const std::string first = TempPath("first.pb"), second = TempPath("second.pb");
  Document({"grad", Product(), "--of", "first", "--wrt", "x", "-o", first});
  const json doc = Document({"grad", first, "--of", "grad/x", "--wrt", "x", "-o", second});
  EXPECT_EQ(doc["gradients"], json::parse(R"([{"of":"x","node":"grad/x_1"}])"));
  const Finished run =
      GraphRun({"run", second, "--input", "x=2xf32=5,0", "--expect", "grad/x_1=2xf32=0,1"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(Grad, SaysThatThereIsNone) {
  const Finished run = GraphRun(
      {"grad", Product(), "--of", "first", "--wrt", "w", "-o", TempPath("none.pb"), "--json"});
  EXPECT_EQ(run.exit, 1);
  const json doc = json::parse(run.out);
  EXPECT_EQ(doc["gradients"], json::parse(R"([{"of":"w","node":null}])"));
  EXPECT_TRUE(doc["written"].is_null());
  EXPECT_THAT(run.err, HasSubstr("depends on none of w"));
}

TEST(Grad, NamesTheOpWithoutGradientAndThePath) {
  const Finished run =
      GraphRun({"grad", Product(), "--of", "loss", "--wrt", "w", "-o", TempPath("odd.pb")});
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.err, HasSubstr("No gradient defined for op: TruncateMod"));
  EXPECT_THAT(run.err, HasSubstr("loss <- odd <- y <- w"));
}

TEST(Grad, NamesTheFlagThatIgnoresCustomGradients) {
  const std::string model = TempFile("custom.pbtxt", R"(
node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
node { name: 'y' op: 'IdentityN' input: 'x' attr { key: 'T' value { list { type: DT_FLOAT } } }
       attr { key: '_gradient_op_type' value { s: 'CustomGradient-1' } } }
)");
  std::vector<std::string> args = {"grad",  model, "--of", "y",
                                   "--wrt", "x",   "-o",   TempPath("custom.pb")};
  const Finished refused = GraphRun(args);
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.err, HasSubstr("--ignore-custom-gradients"));
  args.push_back("--ignore-custom-gradients");
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(Grad, RefusesWrongUse) {
  const std::string out = TempPath("unused.pb");
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--wrt", "x", "-o", out}, "--of"},
      {{"--of", "y", "-o", out}, "--wrt"},
      {{"--of", "y", "--wrt", "x"}, "-o OUT"},
      {{"--of", "why", "--wrt", "x", "-o", out}, "why"},
      {{"--of", "y", "--wrt", "ex", "-o", out}, "ex"},
      {{"--of", "y", "--wrt", "x", "--grad-of", "x=y", "-o", out}, "--grad-of"},
  };
  for (const auto& [flags, word] : wrong) {
    std::vector<std::string> args = {"grad", Product()};
    args.insert(args.end(), flags.begin(), flags.end());
    const Finished run = GraphRun(args);
    EXPECT_EQ(run.exit, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr(word));
  }
}

TEST(Grad, CheckCountsCasesOfGradients) {
  const json doc = Document({"check", "--gradients", Golden("gradients")});
  EXPECT_EQ(doc["summary"]["failed"], 0);
  EXPECT_EQ(doc["summary"]["unimplemented"], 0);
  EXPECT_EQ(doc["summary"]["crashed"], 0);
  EXPECT_GT(doc["summary"]["passed"], 100);
}

}  // namespace
}  // namespace tenon::testing
