// graph_run check: which cases there are, and what becomes of each. With plug-ins inputs are fed,
// passes of plug-ins run, and what a plug-in had to do with the cases is told.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kFloatConstant[] = "attr { key: 'dtype' value { type: DT_FLOAT } }";
constexpr char kInt[] = "attr { key: 'dtype' value { type: DT_INT32 } }";
constexpr char kT[] = "attr { key: 'T' value { type: DT_FLOAT } }";

std::string Node(const std::string& name, const std::string& op, const std::string& rest) {
  return "node { name: '" + name + "' op: '" + op + "' " + rest + " }\n";
}
std::string Constant(const std::string& name, const std::string& dtype, const std::string& tensor) {
  return Node(name, "Const",
              dtype + " attr { key: 'value' value { tensor { dtype: " +
                  (dtype == kInt ? "DT_INT32 " : "DT_FLOAT ") + tensor + " } } }");
}

// Relu(x + bias), as two nodes that the pass of the APU makes one.
std::string BiasReluCase() {
  return Constant("c000/x", kFloatConstant,
                  "tensor_shape { dim { size: 1 } dim { size: 2 } } float_val: [1, -5]") +
         Constant("c000/bias", kFloatConstant,
                  "tensor_shape { dim { size: 2 } } float_val: [2, 3]") +
         Node("c000/sum", "BiasAdd", std::string("input: ['c000/x', 'c000/bias'] ") + kT) +
         Node("c000/op", "Relu", std::string("input: 'c000/sum' ") + kT) +
         Constant("c000/want0", kFloatConstant,
                  "tensor_shape { dim { size: 1 } dim { size: 2 } } float_val: [3, 0]");
}

struct Checked {
  int exit;
  std::string err;
  json doc;
};
Checked Check(const std::string& graph, const std::string& plugin,
              std::vector<std::string> more = {}) {
  std::vector<std::string> args = {"check", graph, "--json", "--plugin", plugin};
  args.insert(args.end(), more.begin(), more.end());
  const Finished run = GraphRun(args);
  return {run.exit, run.err, json::parse(run.out, nullptr, false)};
}

std::string Apu() { return Built("lib/plugins/libapu.so"); }

TEST(CheckWithPlugins, ResultsThatTheyLoseAreTheirFault) {
  const std::string graph = TempFile("BiasRelu.pbtxt", BiasReluCase());
  const Checked checked = Check(graph, TestPlugin("rogue") + ";ROGUE=load_close_all");
  EXPECT_EQ(checked.exit, 5) << checked.err;
  EXPECT_THAT(checked.err, HasSubstr("librogue.so closed the pipe to which results go"));
}

// Two files of two cases, of which the first is the rogue's. Whatever it writes, the case is judged
// by no byte of it, and no other case is lost without a word.
TEST(CheckWithPlugins, WhatTheyWriteIntoThePipeOfResultsIsNoResult) {
  const std::string folder = TempPath("garbled");
  std::filesystem::create_directories(folder);
  const std::string good =
      Node("c001/op", "Relu", std::string("input: 'c001/x' ") + kT) +
      Constant("c001/x", kFloatConstant, "tensor_shape { dim { size: 1 } } float_val: -5") +
      Constant("c001/want0", kFloatConstant, "tensor_shape { dim { size: 1 } } float_val: 0");
  for (const char* file : {"garbled/a.pbtxt", "garbled/b.pbtxt"}) {
    TempFile(file, Node("c000/op", "RogueOp", "") +
                       Constant("c000/want0", kFloatConstant, "tensor_shape {} float_val: 42") +
                       good);
  }
  const auto check = [&](const std::string& way) {
    return GraphRun({"check", folder, "--plugin", TestPlugin("rogue") + ";ROGUE=" + way});
  };
  for (const char* way : {"compute_pipe_size", "compute_pipe_field", "compute_pipe_part"}) {
    SCOPED_TRACE(way);
    const Finished run = check(way);
    EXPECT_EQ(run.exit, 3) << run.err;
    for (const char* file : {"a.pbtxt", "b.pbtxt"}) {
      EXPECT_THAT(run.err,
                  HasSubstr(std::string(file) +
                            ": c000: crashed: something other than results came through the pipe "
                            "to which they go; a plug-in may have written into it"));
    }
    EXPECT_THAT(run.out, HasSubstr("2 passed, 0 failed, 0 unimplemented, 2 crashed"));
  }
  const Finished loading = check("load_pipe_size");
  EXPECT_EQ(loading.exit, 5) << loading.err;
  EXPECT_THAT(loading.err, HasSubstr("a process for cases ended outside of them: something other"));
}

TEST(CheckWithPlugins, DoesNotWaitForProgramsThatTheyStart) {
  const std::string graph = TempFile("BiasRelu.pbtxt", BiasReluCase());
  const std::string file = TempFile("helper", "");
  for (const char* way : {"load_helper", "load_forked_helper"}) {
    const Finished run = GraphRun({"check", graph, "--timeout", "2", "--plugin",
                                   TestPlugin("rogue") + ";ROGUE=" + way + ";ROGUE_FILE=" + file});
    EXPECT_EQ(run.exit, 0) << run.err;
    EXPECT_TRUE(std::filesystem::exists(file)) << "the program has ended";
  }
}

TEST(CheckWithPlugins, RunsTheirPassesOnGraphsThatNothingFolds) {
  const std::string graph = TempFile("BiasRelu.pbtxt", BiasReluCase());
  const Checked checked = Check(graph, Apu());
  EXPECT_EQ(checked.exit, 0) << checked.err;
  EXPECT_EQ(checked.doc["cases"][0]["plugin_kernels"], json({"ApuBiasRelu"}));
  EXPECT_EQ(checked.doc["plugins"][0]["cases"], 1);
  EXPECT_EQ(checked.doc["plugins"][0]["ops"], json({{"BiasRelu", 1}}));
  EXPECT_EQ(checked.doc["plugins"][0]["kernels"], json({{"ApuBiasRelu", 1}}));
  EXPECT_EQ(checked.doc["changing_passes"], json({{"plugin:APU", 1}}));
  EXPECT_EQ(checked.doc["warnings"], json::array());
  const Finished table = GraphRun({"check", graph, "--plugin", Apu()});
  EXPECT_THAT(table.out, HasSubstr("1 of 1 case ran a kernel of this plug-in"));
  EXPECT_THAT(table.out, HasSubstr("ApuBiasRelu"));
  EXPECT_THAT(table.out, HasSubstr("plugin:APU changed the graphs of 1 case"));
}

TEST(CheckWithPlugins, LeavesPassesToWhoAsksForThem) {
  const Checked checked =
      Check(TempFile("BiasRelu.pbtxt", BiasReluCase()), Apu(), {"--opt-level", "0"});
  EXPECT_EQ(checked.exit, 0) << checked.err;
  EXPECT_EQ(checked.doc["cases"][0]["plugin_kernels"], json({"Relu"}));
  EXPECT_EQ(checked.doc["changing_passes"], json::object());
}

TEST(CheckWithPlugins, SaysSoWhereNothingOfAPluginWasTested) {
  const Checked checked = Check("tests/golden/ops", Apu(), {"--ops", "Abs"});
  EXPECT_EQ(checked.exit, 0) << checked.err;
  EXPECT_THAT(checked.err, HasSubstr("warning: no case ran any of the 2 kernels of plug-in "));
  EXPECT_THAT(checked.doc["warnings"][0].get<std::string>(),
              HasSubstr("nothing of them was tested"));
  EXPECT_EQ(checked.doc["plugins"][0]["cases"], 0);
}

// A wrong kernel fails its cases; without the plug-in they pass, and nothing is said of plug-ins.
TEST(CheckWithPlugins, JudgesTheirKernels) {
  const Checked wrong = Check("tests/golden/ops", TestPlugin("neg_ten"), {"--ops", "Neg"});
  EXPECT_EQ(wrong.exit, 3);
  EXPECT_GT(wrong.doc["plugins"][0]["ops"]["Neg"], 0);
  const Finished without = GraphRun({"check", "tests/golden/ops", "--ops", "Neg", "--json"});
  EXPECT_EQ(without.exit, 0) << without.err;
  const json doc = json::parse(without.out);
  EXPECT_FALSE(doc.contains("plugins"));
  EXPECT_FALSE(doc["cases"][0].contains("plugin_kernels"));
}

TEST(CheckWithPlugins, TellsOfPassesThatFail) {
  const std::string graph = TempFile("BiasRelu.pbtxt", BiasReluCase());
  const Checked reported = Check(graph, TestPlugin("blows_up"));
  EXPECT_EQ(reported.exit, 0) << reported.err;
  EXPECT_THAT(reported.err, HasSubstr("warning: pass plugin:CPU: rolled back: its answer has 20"));
  EXPECT_THAT(reported.err, HasSubstr("(in 1 case)"));
  EXPECT_THAT(reported.err, Not(HasSubstr("no case ran")));  // it has no kernels
  const Checked failed = Check(graph, TestPlugin("blows_up"), {"--plugin-errors=fail"});
  EXPECT_EQ(failed.exit, 3);
  EXPECT_EQ(failed.doc["cases"][0]["status"], "failed");
}

// What decides a shape stays known, so that plans and passes are those of a model.
TEST(CheckWithPlugins, KeepsTheConstantsThatDecideShapes) {
  const std::string graph = TempFile(
      "Reshape.pbtxt",
      Constant("c000/x", kFloatConstant, "tensor_shape { dim { size: 2 } } float_val: [1, -5]") +
          Constant("c000/shape", kInt, "tensor_shape { dim { size: 2 } } int_val: [2, 1]") +
          Node("c000/reshaped", "Reshape", std::string("input: ['c000/x', 'c000/shape'] ") + kT) +
          Node("c000/op", "Relu", std::string("input: 'c000/reshaped' ") + kT) +
          Constant("c000/want0", kFloatConstant,
                   "tensor_shape { dim { size: 2 } dim { size: 1 } } float_val: [1, 0]"));
  const Checked checked = Check(graph, Apu());
  EXPECT_EQ(checked.exit, 0) << checked.err;
  EXPECT_EQ(checked.doc["cases"][0]["plugin_kernels"], json({"Relu"}));
}

// The answers of all ops are the same whether their inputs are constants or fed.
TEST(CheckWithPlugins, FeedsWhatCasesHoldWithoutChangingTheirAnswers) {
  const Checked checked = Check("tests/golden/ops", TestPlugin("pass_one"));
  EXPECT_EQ(checked.exit, 0) << checked.err.substr(0, 4000);
  EXPECT_EQ(checked.doc["summary"]["failed"], 0);
  const Finished plain = GraphRun({"check", "tests/golden/ops", "--json"});
  EXPECT_EQ(json::parse(plain.out)["summary"], checked.doc["summary"]);
}

// The loss is computed though no gradient reads it.
TEST(CheckWithPlugins, KeepsTheLossOfGradients) {
  const Finished run = GraphRun(
      {"check", "--gradients", "tests/golden/gradients/Branches.pbtxt.xz", "--plugin", Apu()});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

TEST(Check, GoldenOps) {
  const Finished run =
      GraphRun({"check", "tests/golden/ops", "--ops", "Relu,AddV2,Reshape", "--json"});
  EXPECT_EQ(run.exit, 0) << run.err;
  const json doc = json::parse(run.out);
  EXPECT_EQ(doc["summary"]["ops"], 3);
  EXPECT_EQ(doc["summary"]["failed"], 0);
  EXPECT_GT(doc["summary"]["passed"], 40);
  for (const char* key : {"file", "case", "op", "status", "detail"})
    EXPECT_TRUE(doc["cases"][0].contains(key)) << key;
}

// A Const of two floats, 1 and `second`.
std::string Pair(const std::string& name, const std::string& second) {
  return "node { name: \"" + name +
         "\" op: \"Const\" attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"value\" "
         "value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [1, " +
         second + "] } } } }\n";
}
std::string Unary(const std::string& name, const std::string& op, const std::string& input) {
  return "node { name: \"" + name + "\" op: \"" + op + "\" input: \"" + input +
         "\" attr { key: \"T\" value { type: DT_FLOAT } } }\n";
}

TEST(Check, CasesReachNodesOfOtherScopes) {
  for (const std::string shared : {"shared", "some/shared", "c000/shared"}) {
    const std::string text = Pair(shared, "-2") + Unary("c000/op", "Abs", shared) +
                             Pair("c000/want0", "2") + Unary("c005/op", "Abs", "c000/op") +
                             Unary("c005/more", "Abs", shared) + Pair("c005/want0", "2");
    const Finished run = GraphRun({"check", TempFile("reach.pbtxt", text), "--json"});
    EXPECT_EQ(run.exit, 0) << run.err;
    const json doc = json::parse(run.out);
    EXPECT_EQ(doc["summary"]["passed"], 2) << shared;
    EXPECT_EQ(doc["cases"].size(), 2) << shared;
  }
}

TEST(Check, ADefectCountsForAllThatReachIt) {
  const std::string text = Unary("shared", "Abs", "nowhere") + Unary("c000/op", "Abs", "shared") +
                           Pair("c000/want0", "2") + Pair("c001/op", "2") + Pair("c001/want0", "2");
  const Finished run = GraphRun({"check", TempFile("defect.pbtxt", text), "--json"});
  EXPECT_EQ(run.exit, 3) << run.err;
  const json doc = json::parse(run.out);
  ASSERT_EQ(doc["cases"].size(), 2);
  EXPECT_EQ(doc["cases"][0]["status"], "failed");
  EXPECT_THAT(std::string(doc["cases"][0]["detail"]), HasSubstr("nowhere"));
  EXPECT_EQ(doc["cases"][1]["status"], "passed");
}

TEST(Check, WrongAnswersFail) {
  const std::string cases =
      TempFile("Neg.pbtxt",
               "node { name: \"c000/in0\" op: \"Const\" attr { key: \"dtype\" value { type: "
               "DT_FLOAT } } attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape "
               "{} float_val: 1 } } } }\n"
               "node { name: \"c000/op\" op: \"Neg\" input: \"c000/in0\" attr { key: \"T\" value { "
               "type: DT_FLOAT } } }\n"
               "node { name: \"c000/want0\" op: \"Const\" attr { key: \"dtype\" value { type: "
               "DT_FLOAT } } attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape "
               "{} float_val: 1 } } } }\n");
  const Finished run = GraphRun({"check", cases});
  EXPECT_EQ(run.exit, 3);
  EXPECT_THAT(run.err,
              HasSubstr("Neg.pbtxt: c000: failed: c000/op:0 element [] is -1 where 1 is right"));
  EXPECT_EQ(GraphRun({"check", "/nonexistent"}).exit, 4);
}

}  // namespace
}  // namespace tenon::testing
