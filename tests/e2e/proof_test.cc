// Wrong passes of plug-ins, seen from the command line: --verify-each=numeric, bisect, reduce,
// diff.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/e2e/saved_model_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// y = x * 1234.5, unless a pass changes the constant; more nodes than are needed for that.
std::string ModelWithConstant() {
  return TempFile("constant.pbtxt", R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: -1 } } } } }
    node { name: "e" op: "Exp" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "t" op: "Tanh" input: "e" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1234.5 } } } }
    node { name: "m" op: "Mul" input: "t" input: "c" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "y" op: "Neg" input: "m" attr { key: "T" value { type: DT_FLOAT } } }
  )");
}

// y reads a variable that is assigned first, because a control edge says so.
std::string ModelWithControlEdge() {
  return TempFile("control.pbtxt", R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 2 } } } } }
    node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 2 } } } } }
    node { name: "set" op: "AssignVariableOp" input: "v" input: "x" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "get" op: "ReadVariableOp" input: "v" input: "^set" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "Neg" input: "get" attr { key: "T" value { type: DT_FLOAT } } }
  )");
}

TEST(VerifyNumeric, BlamesThePassOfAPluginAndRollsItBack) {
  const json row = RowOf(Document({"opt", ModelWithConstant(), "--plugin",
                                   TestPlugin("wrong_constant"), "--verify-each=numeric"}),
                         "plugin:CPU");
  EXPECT_TRUE(row["failed"]);
  EXPECT_THAT(row["reason"].get<std::string>(),
              HasSubstr("rolled back: it changed what the graph answers to inputs "));
  EXPECT_THAT(row["reason"].get<std::string>(),
              HasSubstr("the first value that differs is that of 'c'"));
  const Finished run =
      GraphRun({"run", ModelWithConstant(), "--plugin", TestPlugin("wrong_constant"),
                "--verify-each=numeric", "--input", "x=1xf32=20", "--expect", "y=1xf32=-1234.5"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(VerifyNumeric, SeesAControlEdgeThatIsDropped) {
  const json row = RowOf(Document({"opt", ModelWithControlEdge(), "--plugin",
                                   TestPlugin("drops_control"), "--verify-each=numeric"}),
                         "plugin:CPU");
  EXPECT_TRUE(row["failed"]);
  EXPECT_THAT(row["reason"].get<std::string>(),
              HasSubstr("the first value that differs is that of 'get'"));
}

// A plug-in's pass does not say how exact it is: corners count, however small the inputs are.
std::string ModelWithCorners(std::string_view what) {
  return TempFile("corners.pbtxt", absl::StrCat(R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 2 } } } } }
    node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1234.5 } } } }
    node { name: "n" op: "IsNan" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "check" op: "CheckNumerics" input: "x" attr { key: "T" value { type: DT_FLOAT } }
           attr { key: "message" value { s: "bad" } } })",
                                                what));
}

TEST(VerifyNumeric, ComparesThePassOfAPluginOnCorners) {
  const std::string model = ModelWithCorners(R"(
    node { name: "y" op: "SelectV2" input: "n" input: "c" input: "x" attr { key: "T" value { type: DT_FLOAT } } })");
  EXPECT_THAT(RowOf(Document({"opt", model, "--output", "y", "--plugin",
                              TestPlugin("wrong_constant"), "--verify-each=numeric"}),
                    "plugin:CPU")["reason"]
                  .get<std::string>(),
              HasSubstr("changed what the graph answers to inputs 'NaN': of output y element "));
  std::vector<std::string> run = {"run",      model,
                                  "--plugin", TestPlugin("wrong_constant"),
                                  "--input",  "x=2xf32=nan,1",
                                  "--expect", "y=2xf32=1234.5,1",
                                  "--output", "y",
                                  "--rtol",   "0",
                                  "--atol",   "0"};
  EXPECT_EQ(GraphRun(run).exit, 3);
  run.push_back("--verify-each=numeric");
  const Finished verified = GraphRun(run);
  EXPECT_EQ(verified.exit, 0) << verified.err;
  EXPECT_THAT(verified.err, HasSubstr("to inputs 'given': of output y element [0]"));
}

TEST(VerifyNumeric, SeesAnErrorThatThePassOfAPluginHides) {
  const json row = RowOf(
      Document({"opt", ModelWithCorners(R"(
    node { name: "y" op: "Neg" input: "x" input: "^check" attr { key: "T" value { type: DT_FLOAT } } })"),
                "--output", "y", "--plugin", TestPlugin("drops_control"), "--verify-each=numeric"}),
      "plugin:CPU");
  EXPECT_TRUE(row["failed"]);
  EXPECT_THAT(row["reason"].get<std::string>(),
              AllOf(HasSubstr("to inputs 'infinities': output y has a value where it failed: "),
                    HasSubstr("the first value that differs is that of 'y'")));
}

// What it answers to small inputs is 0, whatever the constant is.
TEST(VerifyNumeric, RunsOnWhatTheGraphIsFedWith) {
  const std::string model = TempFile("far.pbtxt", R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 2 } } } } }
    node { name: "far" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 100 } } } }
    node { name: "s" op: "Sub" input: "x" input: "far" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "r" op: "Relu" input: "s" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1234.5 } } } }
    node { name: "y" op: "Mul" input: "r" input: "c" attr { key: "T" value { type: DT_FLOAT } } }
  )");
  const std::vector<std::string> args = {"run",       model,
                                         "--plugin",  TestPlugin("wrong_constant"),
                                         "--input",   "x=2xf32=101",
                                         "--expect",  "y=2xf32=1234.5",
                                         "--max-ulp", "0",
                                         "--rtol",    "0",
                                         "--atol",    "0"};
  EXPECT_EQ(GraphRun(args).exit, 3);
  std::vector<std::string> verified = args;
  verified.push_back("--verify-each=numeric");
  const Finished run = GraphRun(verified);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("to inputs 'given': of output y"));
}

// The model with the constant, and an output that fails on all inputs that can be made up.
std::string ModelWithAFailingOutput() {
  return TempFile("failing.pbtxt", ReadFile(ModelWithConstant()) + R"(
    node { name: "many" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 24 } } float_val: 1 } } } }
    node { name: "shape" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } }
           attr { key: "shape" value { shape { dim { size: 2 } } } } }
    node { name: "bad" op: "Reshape" input: "many" input: "shape" attr { key: "T" value { type: DT_FLOAT } }
           attr { key: "Tshape" value { type: DT_INT32 } } }
  )");
}

TEST(VerifyNumeric, ComparesEachOutputApart) {
  const json doc = Document({"opt", ModelWithAFailingOutput(), "--plugin",
                             TestPlugin("wrong_constant"), "--verify-each=numeric"});
  EXPECT_THAT(RowOf(doc, "plugin:CPU")["reason"].get<std::string>(), HasSubstr("of output y "));
  EXPECT_THAT(doc["verified"]["not_compared"].get<std::string>(), HasSubstr("output bad: "));
}

TEST(BisectCommand, LeavesOutputsOutThatFailAnyway) {
  const std::vector<std::string> args = {"bisect", ModelWithAFailingOutput(), "--plugin",
                                         TestPlugin("wrong_constant")};
  EXPECT_EQ(Document(args)["culprits"][0]["pass"], "plugin:CPU");
  EXPECT_THAT(GraphRun(args).err, HasSubstr("warning: output bad: "));
}

TEST(VerifyNumeric, SaysHowMuchItCompared) {
  const json doc = Document({"opt", kMlp, "--verify-each=numeric"});
  EXPECT_GT(doc["verified"]["passes"].get<int>(), 1);
  EXPECT_GT(doc["verified"]["runs"].get<int>(), 10);
  EXPECT_EQ(doc["verified"]["not_compared"], "");
}

TEST(BisectCommand, FindsThePassesOfPlugins) {
  for (const auto& [model, plugin] : {std::pair(ModelWithConstant(), "wrong_constant"),
                                      std::pair(ModelWithControlEdge(), "drops_control")}) {
    const json doc = Document({"bisect", model, "--plugin", TestPlugin(plugin)});
    EXPECT_TRUE(doc["wrong"]);
    ASSERT_EQ(doc["culprits"].size(), 1u) << doc;
    EXPECT_EQ(doc["culprits"][0]["pass"], "plugin:CPU");
    EXPECT_EQ(doc["culprits"][0]["rewrite"], "");
    EXPECT_LE(doc["runs"].get<int>(), 12);
    EXPECT_THAT(GraphRun({"bisect", model, "--plugin", TestPlugin(plugin)}).out,
                HasSubstr("--disable-pass plugin:CPU"));
  }
}

TEST(BisectCommand, TellsPluginsOfOneTypeApart) {
  const std::vector<std::string> args = {"bisect",   ModelWithConstant(),
                                         "--plugin", TestPlugin("drops_control"),
                                         "--plugin", TestPlugin("wrong_constant")};
  const json doc = Document(args);
  ASSERT_EQ(doc["culprits"].size(), 1u) << doc;
  EXPECT_EQ(doc["culprits"][0]["pass"], "plugin:CPU:libwrong_constant.so");
  EXPECT_EQ(doc["first_different"], "c");
  for (const std::string pass : {"plugin:CPU:libwrong_constant.so", "plugin:CPU"}) {
    std::vector<std::string> without = args;
    without.insert(without.end(), {"--disable-pass", pass});
    EXPECT_FALSE(Document(without)["wrong"]) << pass;
  }
}

TEST(BisectCommand, MentionsAPassThatIsRolledBack) {
  const json doc = Document({"bisect", ModelWithConstant(), "--plugin", TestPlugin("pass_two")});
  EXPECT_FALSE(doc["wrong"]);
  ASSERT_EQ(doc["rolled_back"].size(), 1u) << doc;
  EXPECT_THAT(doc["rolled_back"][0].get<std::string>(), HasSubstr("pass plugin:CPU: rolled back"));
}

// 0/0 is NaN with and without passes.
TEST(BisectCommand, TakesOneNanForAnother) {
  const json doc = Document({"bisect", TempFile("nan.pbtxt", R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 4 } } } } }
    node { name: "a" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "b" op: "Log" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "c" op: "Abs" input: "b" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "y" op: "Exp" input: "c" attr { key: "T" value { type: DT_FLOAT } } }
  )"),
                             "--input", "x=4xf32=1", "--max-ulp", "0"});
  EXPECT_FALSE(doc["wrong"]) << doc;
}

TEST(BisectCommand, FindsAPassThatHidesAnError) {
  const std::string model = ModelWithCorners(R"(
    node { name: "y" op: "Neg" input: "x" input: "^check" attr { key: "T" value { type: DT_FLOAT } } })");
  const std::vector<std::string> args = {"bisect", model,     "--output",
                                         "y",      "--input", "x=2xf32=nan,1"};
  std::vector<std::string> wrong = args;
  wrong.insert(wrong.end(), {"--plugin", TestPlugin("drops_control")});
  const json doc = Document(wrong);
  EXPECT_THAT(doc["what"].get<std::string>(), HasSubstr("output y has a value where it failed: "));
  ASSERT_EQ(doc["culprits"].size(), 1u) << doc;
  EXPECT_EQ(doc["culprits"][0]["pass"], "plugin:CPU");
  EXPECT_EQ(doc["first_different"], "y");
  const Finished right = GraphRun(args);
  EXPECT_EQ(right.exit, 1);
  EXPECT_THAT(right.err, HasSubstr("without any pass the graph answers nothing"));
}

TEST(BisectCommand, SaysThatNothingIsWrong) {
  const json doc = Document({"bisect", kMlp, "--input", "x=4x20xf32=random(seed=3)"});
  EXPECT_FALSE(doc["wrong"]);
  EXPECT_THAT(doc["culprits"], IsEmpty());
}

TEST(ReduceCommand, WritesASmallGraphThatStillFails) {
  const std::string out = TempPath("small.pbtxt");
  const json doc = Document(
      {"reduce", ModelWithConstant(), "--plugin", TestPlugin("wrong_constant"), "-o", out});
  EXPECT_EQ(doc["nodes_before"], 6);
  EXPECT_LE(doc["nodes_after"].get<int>(), 4);
  const json again =
      Document({"bisect", out, "--inputs", doc["inputs"].get<std::string>(), "--output",
                doc["output"].get<std::string>(), "--plugin", TestPlugin("wrong_constant")});
  EXPECT_TRUE(again["wrong"]);
  EXPECT_EQ(again["culprits"][0]["pass"], "plugin:CPU");
  EXPECT_EQ(doc["stopped"], "");
  EXPECT_THAT(doc["next"].get<std::string>(),
              HasSubstr("--plugin=" + TestPlugin("wrong_constant")));
  EXPECT_EQ(GraphRun({"reduce", ModelWithConstant()}).exit, 2);
  EXPECT_EQ(GraphRun({"reduce", kMlp, "-o", out}).exit, 1);
}

TEST(ReduceCommand, KeepsWhatIsRunFirst) {
  const std::string model = TempFile("variable.pbtxt", R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: -1 } } } } }
    node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape {} } } attr { key: "shared_name" value { s: "v" } } }
    node { name: "five" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 5 } } } }
    node { name: "set" op: "AssignVariableOp" input: "v" input: "five"
           attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "r" op: "ReadVariableOp" input: "v" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "e" op: "Exp" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "p" op: "Mul" input: "e" input: "r" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1234.5 } } } }
    node { name: "m" op: "Mul" input: "p" input: "c" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "y" op: "Neg" input: "m" attr { key: "T" value { type: DT_FLOAT } } }
  )");
  const std::string out = TempPath("variable_small.pbtxt");
  const json doc = Document({"reduce", model, "--init", "set", "--output", "y", "--plugin",
                             TestPlugin("wrong_constant"), "-o", out});
  const std::string next = doc["next"].get<std::string>();
  std::vector<std::string> again = {"bisect",   out,
                                    "--inputs", doc["inputs"].get<std::string>(),
                                    "--output", doc["output"].get<std::string>(),
                                    "--plugin", TestPlugin("wrong_constant")};
  if (ReadFile(out).find("\"set\"") != std::string::npos) {
    EXPECT_THAT(next, HasSubstr("--init set"));
    again.insert(again.end(), {"--init", "set"});
  }
  EXPECT_TRUE(Document(again)["wrong"]);
}

// Its variables become constants, its calls what they call: a fused convolution rounds differently.
TEST(ReduceCommand, NeedsNoFolderForWhatItWrites) {
  const std::string out = TempPath("from_folder.pbtxt");
  const json doc = Document(
      {"reduce", "tests/golden/saved_models/keras_classifier/model", "--max-ulp", "0", "-o", out});
  EXPECT_LE(doc["nodes_after"].get<int>(), 8);
  const std::string text = ReadFile(out);
  EXPECT_THAT(text, HasSubstr("\"Conv2D\""));
  EXPECT_THAT(text, Not(HasSubstr("function")));
  const json again = Document({"bisect", out, "--inputs", doc["inputs"].get<std::string>(),
                               "--output", doc["output"].get<std::string>(), "--max-ulp", "0"});
  EXPECT_TRUE(again["wrong"]);
}

// With --output no signature need be in use.
TEST(ReduceCommand, TakesResultsThatNoSignatureInUseNames) {
  const std::string out = TempPath("no_signature.pbtxt");
  const Finished run =
      GraphRun({"reduce", Folder("branches"), "-o", out, "--output=StatefulPartitionedCall:0"});
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("there is nothing to reduce"));
}

TEST(ReduceCommand, TellsThatAModelIsDamaged) {
  const std::string model = CopyOf("keras_classifier", "reduce_damaged");
  std::filesystem::resize_file(model + "/variables/variables.index", 10);
  const Finished run = GraphRun({"reduce", model, "-o", TempPath("damaged.pbtxt")});
  EXPECT_EQ(run.exit, 4) << run.err;
  EXPECT_THAT(run.err, HasSubstr("variables.index"));
}

// What a pass keeps from call to call is not in what is written.
TEST(ReduceCommand, SaysThatWhatIsWrongDoesNotComeBack) {
  const std::string out = TempPath("once.pbtxt");
  const Finished second = GraphRun(
      {"reduce", ModelWithConstant(), "--plugin", TestPlugin("wrong_second_time"), "-o", out});
  EXPECT_EQ(second.exit, 1) << second.out;
  EXPECT_THAT(second.err, HasSubstr("and is right when it is tried again: it depends on"));
  const Finished later =
      GraphRun({"reduce", ModelWithConstant(), "--plugin", TestPlugin("wrong_later"), "-o", out});
  EXPECT_EQ(later.exit, 1) << later.out;
  EXPECT_THAT(later.err, HasSubstr("is right in a new process: it depends on"));
}

// A pass that ends the process is tried in processes of its own.
TEST(ReduceCommand, MakesWhatEndsTheProcessSmall) {
  std::string model = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 4 } } } } })";
  std::string last = "x";
  for (const char* op : {"Neg", "Tanh", "Neg", "Abs", "Exp", "Neg", "Tanh", "Sin", "Neg", "Tanh"}) {
    const std::string name = "n" + std::to_string(model.size());
    model += "node { name: '" + name + "' op: '" + op + "' input: '" + last +
             "' attr { key: 'T' value { type: DT_FLOAT } } }\n";
    last = name;
  }
  const std::string out = TempPath("ends.pbtxt");
  const json doc = Document(
      {"reduce", TempFile("chain.pbtxt", model), "--plugin", TestPlugin("ends_at_exp"), "-o", out});
  EXPECT_EQ(doc["nodes_before"], 11);
  EXPECT_LE(doc["nodes_after"].get<int>(), 5) << ReadFile(out);
  EXPECT_THAT(doc["what"].get<std::string>(), HasSubstr("SIGABRT"));
  EXPECT_THAT(ReadFile(out), HasSubstr("\"Exp\""));
  const std::string next = doc["next"].get<std::string>();
  EXPECT_THAT(next, HasSubstr("graph_run run " + out));
  const Finished again = GraphRun({"run", out, "--inputs", doc["inputs"].get<std::string>(),
                                   "--plugin", TestPlugin("ends_at_exp")});
  EXPECT_EQ(again.exit, 5) << again.err;
}

TEST(DiffCommand, TellsAddedRemovedAndChangedNodes) {
  const std::string folder = "tests/golden/passes/remapping/conv_bias_relu";
  const json doc = Document({"diff", folder + ".in.pbtxt", folder + ".out.pbtxt"});
  EXPECT_EQ(doc["added"], 0);
  EXPECT_EQ(doc["removed"], 2);
  EXPECT_EQ(doc["changed"], 1);
  EXPECT_EQ(doc["changes"][0]["name"], "y");
  EXPECT_THAT(doc["changes"][0]["what"].get<std::string>(), HasSubstr("op Relu -> _FusedConv2D"));
  const json same = Document({"diff", kMlp, kMlp});
  EXPECT_THAT(same["changes"], IsEmpty());
  EXPECT_EQ(GraphRun({"diff", kMlp}).exit, 2);
}

}  // namespace
}  // namespace tenon::testing
