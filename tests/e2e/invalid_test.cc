// Graphs and files that are not what they should be.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

size_t Lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Lint, FindsEveryDefectWithItsPlace) {
  const std::string path = TempFile("bad.pbtxt",
                                    "node { name: \"a\" op: \"Relu\" input: \"nowhere\" attr { "
                                    "key: \"T\" value { type: DT_FLOAT } } }\n"
                                    "node { name: \"b\" op: \"NoSuchOp\" }\n"
                                    "node { name: \"c\" op: \"NoOp\" }\n"
                                    "node { name: \"c\" op: \"NoOp\" }\n");
  const Finished lint = GraphRun({"lint", path, "--json"});
  EXPECT_EQ(lint.exit, 4);
  EXPECT_EQ(Lines(lint.err), 3) << lint.err;
  EXPECT_THAT(lint.err, HasSubstr(path + ":1:"));
  EXPECT_THAT(lint.err, HasSubstr(path + ":2:"));
  EXPECT_THAT(lint.err, HasSubstr(path + ":4:"));
  const json doc = json::parse(lint.out);
  EXPECT_EQ(doc["defects"].size(), 3);
  EXPECT_EQ(doc["status"]["code"], "INVALID_ARGUMENT");
  for (const char* command : {"run", "show", "opt", "explain", "bench"})
    EXPECT_EQ(GraphRun({command, path}).exit, 4) << command;
}

// Nobody waits until the memory is full.
TEST(Lint, ADeviceWithoutAnEndIsNoModel) {
  for (const char* command : {"lint", "run", "show", "explain"}) {
    const Finished run = GraphRun({command, "/dev/zero"});
    EXPECT_EQ(run.exit, 4) << command;
    EXPECT_THAT(run.err, HasSubstr("/dev/zero: is a device, not a file or a pipe"));
  }
  const Finished pipe = GraphRun(Start{.args = {"show", "/dev/stdin"},
                                       .input = ReadFile("tests/golden/models/mlp/graph.pbtxt")});
  EXPECT_EQ(pipe.exit, 0) << pipe.err;
}

TEST(Lint, AnUnknownOpAlone) {
  const std::string path = TempFile("unknown.pbtxt", "node { name: \"b\" op: \"NoSuchOp\" }\n");
  EXPECT_EQ(GraphRun({"lint", path}).exit, 4);
  for (const char* command : {"run", "opt", "explain", "bench"}) {
    const Finished run = GraphRun({command, path, "--json"});
    EXPECT_EQ(run.exit, 1) << command;
    EXPECT_THAT(run.err, HasSubstr("NoSuchOp"));
    EXPECT_EQ(json::parse(run.out)["status"]["code"], "UNIMPLEMENTED");
  }
}

TEST(Lint, ADefectThatShowsWhereAFunctionIsCalled) {
  const std::string path =
      TempFile("in_function.pbtxt",
               "node { name: \"call\" op: \"f\" }\n"
               "library { function { signature { name: \"f\" output_arg { name: \"r\" type: "
               "DT_FLOAT } } node_def { name: \"n\" op: \"Neg\" attr { key: \"T\" value { type: "
               "DT_FLOAT } } } ret { key: \"r\" value: \"n:y:0\" } } }\n");
  const Finished run = GraphRun({"run", path, "--output", "call"});
  EXPECT_EQ(run.exit, 4);
  EXPECT_THAT(run.err, HasSubstr("node 'n' (Neg) of function 'f': it has 0 inputs"));
}

TEST(Lint, GoodGraphs) {
  for (const char* model : {"mlp", "two_devices", "functions", "lstm_lowered"})
    EXPECT_EQ(GraphRun({"lint", GoldenGraph(model)}).exit, 0) << model;
}

TEST(Files, NoGraphIsExitFour) {
  EXPECT_EQ(GraphRun({"run", TempPath("missing.pb")}).exit, 4);
  const Finished text =
      GraphRun({"run", TempFile("broken.pbtxt", "node {\n  name: \"a\"\n  op: 7\n}\n")});
  EXPECT_EQ(text.exit, 4);
  EXPECT_THAT(text.err, HasSubstr("broken.pbtxt:3:"));
  const std::string mlp = ReadFile(kMlp);
  EXPECT_EQ(GraphRun({"lint", TempFile("cut.pbtxt", mlp.substr(0, mlp.size() / 2))}).exit, 4);
  EXPECT_EQ(GraphRun({"lint", "/proc/self/mem"}).exit, 4);
  EXPECT_EQ(GraphRun({"lint", "tests"}).exit, 4);
}

TEST(Files, ArraysThatDoNotFit) {
  const std::string npy = TempPath("i32.npy");
  ASSERT_EQ(GraphRun({"run", kMlp, "--input", "x=4x20xf32=ones", "--output", "out=@" + npy}).exit,
            0);
  const Finished shape = GraphRun({"run", kMlp, "--input", "x=@" + npy});
  EXPECT_EQ(shape.exit, 4);
  EXPECT_THAT(shape.err, HasSubstr("f32[4,10]"));
  EXPECT_EQ(GraphRun({"run", kMlp, "--input", "x=@" + TempFile("no.npy", "\x93NUMPYxx")}).exit, 4);
  EXPECT_EQ(GraphRun({"run", kMlp, "--input", "x=4x20xf32=@" + TempFile("short.bin", "abc")}).exit,
            4);
  EXPECT_EQ(GraphRun({"run", kMlp, "--input", "x=@/nonexistent.npy"}).exit, 4);
  const Finished folder = GraphRun({"run", kMlp, "--input", "x=4x20xf32=@tests/"});
  EXPECT_EQ(folder.exit, 4);
  EXPECT_THAT(folder.err, HasSubstr("tests/: is a folder"));
}

TEST(Limits, AreObeyed) {
  EXPECT_EQ(GraphRun({"lint", kMlp, "--max-nodes", "5"}).exit, 4);
  EXPECT_EQ(GraphRun({"lint", kMlp, "--max-const-bytes", "100"}).exit, 4);
  EXPECT_EQ(GraphRun({"lint", kMlp, "--max-rank", "1"}).exit, 4);
}

// Of text and of bytes.
TEST(Limits, TellTheDepthThatWasAskedFor) {
  const std::string binary = TempPath("mlp.pb");
  ASSERT_EQ(GraphRun({"opt", kMlp, "-o", binary}).exit, 0);
  for (const std::string& model : {std::string(kMlp), binary}) {
    const Finished lint = GraphRun({"lint", model, "--max-depth", "2"});
    EXPECT_EQ(lint.exit, 4);
    EXPECT_THAT(lint.err, HasSubstr("messages are nested more than 2 deep (--max-depth)"));
    const bool of_bytes = lint.err.find(model + ": byte ") != std::string::npos;
    EXPECT_EQ(of_bytes, model == binary) << lint.err;
  }
}

// A node lies two deep, also one that has nothing in it.
TEST(Limits, CountTheNodesThemselves) {
  const std::string model = TempFile("deep.pbtxt", "node { name: 'n' op: 'NoOp' }\n");
  EXPECT_EQ(GraphRun({"lint", model, "--max-depth", "2"}).exit, 0);
  const Finished lint = GraphRun({"lint", model, "--max-depth", "1"});
  EXPECT_EQ(lint.exit, 4);
  EXPECT_THAT(lint.err, HasSubstr("messages are nested more than 1 deep (--max-depth)"));
}

TEST(Limits, MustBePossible) {
  const std::pair<const char*, const char*> flags[] = {{"--max-nodes", "-1"},
                                                       {"--max-const-bytes", "-1"},
                                                       {"--max-depth", "0"},
                                                       {"--max-rank", "-1"},
                                                       {"--max-nodes", "many"}};
  for (const auto& [flag, value] : flags) {
    const Finished lint = GraphRun({"lint", kMlp, flag, value});
    EXPECT_EQ(lint.exit, 2) << flag;
    EXPECT_THAT(lint.err, HasSubstr(flag));
  }
}

TEST(Check, FilesThatAreNoGraphAreExitFour) {
  EXPECT_EQ(GraphRun({"check", TempFile("nothing.pbtxt", "node { nam")}).exit, 4);
  // No case in it, and the graph is invalid: the defect counts, not what a case would need.
  const std::string invalid =
      TempFile("invalid.pbtxt", "node { name: \"c\" op: \"Relu\" input: \"nowhere\" }\n");
  const Finished run = GraphRun({"check", invalid});
  EXPECT_EQ(run.exit, 4);
  EXPECT_THAT(run.err, HasSubstr("nowhere"));
  const std::string no_case = TempFile("no_case.pbtxt", "node { name: \"c\" op: \"NoOp\" }\n");
  const Finished empty = GraphRun({"check", no_case});
  EXPECT_EQ(empty.exit, 3);
  EXPECT_THAT(empty.err, HasSubstr("it fetches nothing"));
}

TEST(Limits, DeepNestingIsNoCrash) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "library { function { signature { ";
  EXPECT_EQ(GraphRun({"lint", TempFile("deep.pbtxt", deep)}).exit, 4);
}

TEST(Limits, AChainOfAHundredThousandNodesRuns) {
  std::string text =
      "node { name: \"n0\" op: \"Const\" attr { key: \"dtype\" value { type: DT_FLOAT } } attr { "
      "key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } }\n";
  for (int i = 1; i < 100000; ++i) {
    text += "node { name: \"n" + std::to_string(i) + "\" op: \"Neg\" input: \"n" +
            std::to_string(i - 1) + "\" attr { key: \"T\" value { type: DT_FLOAT } } }\n";
  }
  const std::string path = TempFile("chain.pbtxt", text);
  EXPECT_EQ(GraphRun({"lint", path}).exit, 0);
  const Finished run =
      GraphRun({"run", path, "--opt-level", "0", "--expect", "n99999=f32=-1", "--quiet"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

}  // namespace
}  // namespace tenon::testing
