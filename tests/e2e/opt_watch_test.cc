// Watching the optimizer: prints, dumps, limits, and what is left of a pass that fails.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST(OptWatch, DumpsShowThePassesThatChangeSomething) {
  const std::string folder = TempPath("dump");
  std::filesystem::remove_all(folder);
  const json doc = Document({"opt", kMlp, "--dump-dir", folder});
  const auto changed = std::count_if(doc["passes"].begin(), doc["passes"].end(),
                                     [](const json& pass) { return pass["changed"].get<bool>(); });
  ASSERT_LT(changed, std::ssize(doc["passes"]));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 4 * changed);
  const std::string before = folder + "/001_model_pruning_before";
  EXPECT_EQ(Document({"diff", kMlp, before + ".pbtxt"})["added"], 0);
  EXPECT_THAT(ReadFile(before + ".dot"), HasSubstr("label=\"x\\nPlaceholder\""));
  const Finished nowhere = GraphRun({"opt", kMlp, "--dump-dir", "/dev/null/x"});
  EXPECT_EQ(nowhere.exit, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("--dump-dir: /dev/null/x: "));
}

// `head` { name, op } of a constant of these many floats, each of which is another.
std::string ManyFloats(const std::string& head, int count) {
  std::string values;
  for (int i = 0; i < count; ++i) absl::StrAppend(&values, i == 0 ? "" : ", ", i);
  return absl::StrCat(head, R"( attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: )",
                      count, " } } float_val: [", values, "] } } } }");
}

// Weights are told apart, and not written: in the graph and in its functions.
TEST(OptWatch, DumpsHaveChecksumsOfLargeConstants) {
  const std::string folder = TempPath("dump_large");
  std::filesystem::remove_all(folder);
  const std::string model = TempFile("large.pbtxt", absl::StrCat(R"(
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "i" op: "Identity" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
      node { name: "y" op: "AddV2" input: ["i", "large"] attr { key: "T" value { type: DT_FLOAT } } }
      node { name: "z" op: "AddV2" input: ["i", "small"] attr { key: "T" value { type: DT_FLOAT } } }
      node { name: "call" op: "f" input: "i" attr { key: "_noinline" value { b: true } } })",
                                                                 ManyFloats(R"(
      node { name: "large" op: "Const" input: "^x")",
                                                                            300),
                                                                 ManyFloats(R"(
      node { name: "small" op: "Const")",
                                                                            200),
                                                                 R"(
      library { function {
        signature { name: "f" input_arg { name: "a" type: DT_FLOAT }
                    output_arg { name: "r" type: DT_FLOAT } }
        attr { key: "_noinline" value { b: true } })",
                                                                 ManyFloats(R"(
        node_def { name: "inner" op: "Const")",
                                                                            400),
                                                                 R"(
        node_def { name: "sum" op: "AddV2" input: "a" input: "inner:output:0"
                   attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "sum:z:0" } } })"));
  ASSERT_EQ(GraphRun({"opt", model, "--dump-dir", folder}).exit, 0);
  const std::set<std::filesystem::path> files(std::filesystem::directory_iterator(folder), {});
  const std::string path = std::next(files.begin(), 3)->string();
  ASSERT_TRUE(path.ends_with("_before.pbtxt")) << path;
  const std::string dump = ReadFile(path);
  EXPECT_THAT(dump, HasSubstr("s: \"f32[300] #"));
  EXPECT_THAT(dump, HasSubstr("s: \"f32[400] #"));
  EXPECT_THAT(dump, Not(HasSubstr("f32[200] #")));
  EXPECT_LT(dump.size(), 8000u);
  EXPECT_EQ(GraphRun({"lint", path}).exit, 0) << GraphRun({"lint", path}).err;
  const Finished run = GraphRun({"run", path, "--input", "x=1", "--output", "y"});
  EXPECT_EQ(run.exit, 2) << "it has other values than the model";
  EXPECT_THAT(run.err, HasSubstr("large"));
}

TEST(OptWatch, PassesRunAsWritten) {
  const Finished run =
      GraphRun({"opt", kMlp, "--passes", "remapping(max_rewrites=1),model_pruning", "--json"});
  EXPECT_EQ(run.exit, 0) << run.err;
  const json passes = json::parse(run.out)["passes"];
  EXPECT_EQ(passes[0]["name"], "remapping");
  EXPECT_EQ(passes[0]["budget_spent"], "1 rewrite");
  EXPECT_EQ(passes[1]["name"], "model_pruning");
  EXPECT_LE(passes.size(), 4u);
}

TEST(OptWatch, AFailedPassLeavesWhatItWasGiven) {
  const std::string folder = TempPath("failed");
  std::filesystem::remove_all(folder);
  const Finished run =
      GraphRun({"opt", kMlp, "--plugin", TestPlugin("pass_two"), "--dump-dir", folder});
  EXPECT_EQ(run.exit, 0);
  const size_t at = run.err.find(folder + "/graph_run_");
  ASSERT_NE(at, std::string::npos) << run.err;
  const std::string script = run.err.substr(at, run.err.find(" runs it again", at) - at);
  EXPECT_THAT(ReadFile(script), HasSubstr("# plugin:CPU rolled back: it came to nothing"));
  EXPECT_THAT(ReadFile(script), HasSubstr("/graph_run opt \"${0%.sh}.pb\""));
  EXPECT_THAT(ReadFile(script), HasSubstr(" --passes='plugin:CPU' --output='out' --plugin="));
  EXPECT_EQ(GraphRun({"lint", script.substr(0, script.size() - 3) + ".pb"}).exit, 0);
  EXPECT_NE(std::system((script + " > /dev/null 2>&1").c_str()), 0);  // it fails again
}

// What a function does besides its results is asked for as "^node".
TEST(OptWatch, AFailedPassOfABodyLeavesWhatItWasGiven) {
  const std::string folder = TempPath("failed_body");
  std::filesystem::remove_all(folder);
  const std::string model = TempFile("control_ret.pbtxt", R"(
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "call" op: "f" input: "x" }
      node { name: "y" op: "Neg" input: "call" attr { key: "T" value { type: DT_FLOAT } } }
      library { function {
        signature { name: "f" input_arg { name: "a" type: DT_FLOAT }
                    output_arg { name: "r" type: DT_FLOAT } control_output: "c" }
        attr { key: "_noinline" value { b: true } }
        node_def { name: "n" op: "Exp" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "m" op: "Tanh" input: "n:y:0" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "m:y:0" } control_ret { key: "c" value: "n" } } })");
  const Finished run = GraphRun({"opt", model, "--plugin", TestPlugin("pass_two"), "--config",
                                 "min_graph_nodes: -1", "--dump-dir", folder});
  EXPECT_EQ(run.exit, 0) << run.err;
  size_t scripts = 0, of_bodies = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".sh") continue;
    ++scripts;
    of_bodies += ReadFile(entry.path()).find("--output='^n'") != std::string::npos;
    const std::string said = TempPath("said");
    EXPECT_NE(std::system((entry.path().string() + " > " + said + " 2>&1").c_str()), 0);
    EXPECT_THAT(ReadFile(said), HasSubstr("it came to nothing"));
  }
  EXPECT_EQ(scripts, 2) << run.err;
  EXPECT_EQ(of_bodies, 1);
}

// Nobody knows what an unknown op does: its call stays, and is an error of who runs it.
TEST(OptWatch, AnUnknownOpIsNoFaultOfAPass) {
  const auto function = [](const std::string& name, const std::string& node,
                           const std::string& result) {
    return "function { signature { name: '" + name +
           "' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } } "
           "node_def { name: 'n' input: 'a' " +
           node + " } ret { key: 'r' value: 'n:" + result + ":0' } } ";
  };
  const std::string model = TempFile(
      "unknown_call.pbtxt",
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
      "node { name: 'call' op: 'outer' input: 'x' } library { " +
          function("outer", "op: 'inner'", "r") + function("inner", "op: 'NoSuchOp'", "y") + "}");
  const Finished run = GraphRun({"run", model, "--input", "x=f32=1"});
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.err, HasSubstr("no op and no function is named 'NoSuchOp'"));
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
}

TEST(OptWatch, ExplainsNodesThatAreInlined) {
  const std::string model = TempFile("call.pbtxt", R"(
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "call" op: "f" input: "x" }
      node { name: "y" op: "Neg" input: "call" attr { key: "T" value { type: DT_FLOAT } } }
      library { function {
        signature { name: "f" input_arg { name: "a" type: DT_FLOAT }
                    output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "sub" op: "Sub" input: "a" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "sub:z:0" } } })");
  for (const std::string node : {"call/sub", "call"}) {
    const json story = Document({"opt", model, "--explain-node", node})["explain_node"];
    EXPECT_EQ(story["rewrites"][0], "function_optimization.inline_call") << story;
  }
}

// What is pinned to a device that is not here stays apart from what is pinned to one that is, and
// becomes no op that the device may not have; in a body too.
TEST(OptWatch, PinsToDevicesThatAreNotHereAreKept) {
  const std::string squares = R"(
      node { name: 'a' op: 'Mul' input: 'x' input: 'x' device: '/device:APU:0'
             attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'b' op: 'Mul' input: 'x' input: 'x' device: '/device:CPU:0'
             attr { key: 'T' value { type: DT_FLOAT } } })";
  std::string body = absl::StrReplaceAll(squares, {{"node {", "node_def {"}});
  const std::string model = TempFile("pins.pbtxt", absl::StrCat(R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 2 } } } } }
      node { name: 'f' op: 'PartitionedCall' input: 'x'
             attr { key: 'Tin' value { list { type: DT_FLOAT } } }
             attr { key: 'Tout' value { list { type: [DT_FLOAT, DT_FLOAT] } } }
             attr { key: 'f' value { func { name: 'squares' } } } })",
                                                                squares, R"(
      library { function {
        signature { name: 'squares' input_arg { name: 'x' type: DT_FLOAT }
                    output_arg { name: 'r' type: DT_FLOAT } output_arg { name: 's' type: DT_FLOAT }
                  }
        attr { key: '_noinline' value { b: true } })",
                                                                body, R"(
        ret { key: 'r' value: 'a:z:0' } ret { key: 's' value: 'b:z:0' } } })"));
  const std::string out = TempFile("pins.out.pbtxt", "");
  const Finished run = GraphRun({"opt", model, "-o", out});
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::string text = ReadFile(out);
  for (const auto& [op, device] :
       {std::pair("Mul", "/device:APU:0"), std::pair("Square", "/device:CPU:0")}) {
    size_t found = 0;
    for (size_t at = text.find(absl::StrCat("\"", op, "\"")); at != text.npos;
         at = text.find(absl::StrCat("\"", op, "\""), at + 1)) {
      ++found;
      EXPECT_THAT(text.substr(at, 150), HasSubstr(device)) << text;
    }
    EXPECT_EQ(found, 2) << op << text;
  }
}

TEST(OptWatch, APassThatNoPluginHasIsAWarning) {
  const Finished run = GraphRun({"opt", kMlp, "--print-after", "plugin:APU"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_THAT(run.err, HasSubstr("warning: no plug-in has a pass 'plugin:APU'"));
  EXPECT_THAT(GraphRun({"opt", kMlp, "--passes", "remapping,plugin:APU"}).err,
              HasSubstr("warning: no plug-in has a pass 'plugin:APU'"));
}

// Datasets have no kernels here, but the graph is for TensorFlow.
TEST(OptWatch, WhatOthersRunNeedNotRunHere) {
  const std::string model = TempFile("dataset.pbtxt", R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: 2 } } } } }
    node { name: "n" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "m" op: "Neg" input: "n" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "e" op: "Exp" input: "m" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "d" op: "TensorDataset" input: "e"
           attr { key: "Toutput_types" value { list { type: DT_FLOAT } } }
           attr { key: "output_shapes" value { list { shape { dim { size: 2 } } } } } }
  )");
  const std::string out = TempPath("dataset_opt.pbtxt");
  const json doc = Document({"opt", model, "--output", "d", "-o", out});
  EXPECT_EQ(doc["nodes_after"], 3);
  EXPECT_THAT(ReadFile(out), HasSubstr("TensorDataset"));
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"opt", model, "--output", "d", "--target", "tenon"},
        std::vector<std::string>{"run", model, "--output", "d", "--input", "x=2xf32=1"}}) {
    const Finished here = GraphRun(args);
    EXPECT_EQ(here.exit, 1);
    EXPECT_THAT(here.err, HasSubstr("'d' (TensorDataset): No OpKernel was registered"));
  }
}

TEST(OptWatch, NoOptionOfAPassIsGivenTwice) {
  const Finished run =
      GraphRun({"opt", kMlp, "--passes", "constant_folding(max_bytes=1,max_bytes=2)"});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("option 'max_bytes' of pass constant_folding is given twice"));
}

TEST(OptWatch, AConfigurationIsTensorFlows) {
  const json off =
      Document({"opt", kMlp, "--config", "remapping: OFF meta_optimizer_iterations: ONE"});
  for (const json& pass : off["passes"]) EXPECT_EQ(pass["iteration"], 0);
  EXPECT_EQ(RowOf(off, "remapping")["skipped"], true);
  const std::string file = TempFile("config.pbtxt", "disable_meta_optimizer: true\n");
  const json none = Document({"opt", kMlp, "--config", file});
  EXPECT_TRUE(none["passes"].empty());
  EXPECT_EQ(none["nodes_before"], none["nodes_after"]);
  const Finished wrong = GraphRun({"opt", kMlp, "--config", "remaping: OFF"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--config: 1:9: "));
  EXPECT_EQ(GraphRun({"opt", kMlp, "--config", "no_such_file"}).exit, 2);
  EXPECT_EQ(GraphRun({"opt", kMlp, "--config", "tests"}).exit, 2);
  EXPECT_THAT(GraphRun({"opt", kMlp, "--config", "meta_optimizer_timeout_ms: 5"}).err,
              HasSubstr("warning: --config: meta_optimizer_timeout_ms has no effect"));
}

TEST(OptWatch, OutputsThatNobodyUsesAreTheSameInEveryRun) {
  const Finished verified =
      GraphRun({"opt", "tests/golden/passes/remapping/batch_norm_after_bias.in.pbtxt",
                "--verify-each=numeric"});
  EXPECT_EQ(verified.exit, 0);
  EXPECT_THAT(verified.err, Not(HasSubstr("rolled back")));
}

TEST(OptWatch, ExplainsWhereANodeComesFrom) {
  const std::string out = TempPath("explained.pbtxt");
  const json node = Document({"opt", kMlp, "--explain-node", "sequential_1/dense_1/Relu",
                              "--provenance", "-o", out})["explain_node"];
  EXPECT_THAT(node["after"].get<std::string>(), HasSubstr("= _FusedMatMul(x, "));
  EXPECT_THAT(node["origins"], ::testing::Contains("sequential_1/dense_1/MatMul"));
  EXPECT_THAT(node["rewrites"],
              ::testing::Contains("remapping.fuse_bias at sequential_1/dense_1/BiasAdd"));
  const json gone =
      Document({"opt", kMlp, "--explain-node", "sequential_1/dense_1/MatMul"})["explain_node"];
  EXPECT_TRUE(gone["after"].is_null());
  EXPECT_THAT(gone["became"], ::testing::ElementsAre("sequential_1/dense_1/Relu"));
  EXPECT_THAT(GraphRun({"opt", kMlp, "--explain-node", "sequential_1/dense_1/Relu"}).out,
              HasSubstr("sequential_1/dense_1/MatMul (MatMul, "));
  EXPECT_EQ(GraphRun({"opt", kMlp, "--explain-node", "nobody"}).exit, 2);
  std::map<std::string, json> origins;
  const json diff = Document({"diff", kMlp, out});
  for (const json& change : diff["changes"]) origins[change["name"]] = change["origins"];
  EXPECT_THAT(origins["sequential_1/dense_1/Relu"],
              ::testing::Contains("sequential_1/dense_1/MatMul"));
  EXPECT_EQ(GraphRun({"run", out, "--input", "x=@tests/golden/models/mlp/feeds/x.npy", "--expect",
                      "out=@tests/golden/models/mlp/fetches/out.npy"})
                .exit,
            0);
}

constexpr char kLoop[] = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape {} } } }
    node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 0 } } } }
    node { name: "end" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 30 } } } }
    node { name: "loop" op: "StatelessWhile" input: "zero" input: "x" input: "end"
           attr { key: "T" value { list { type: [DT_FLOAT, DT_FLOAT, DT_FLOAT] } } }
           attr { key: "cond" value { func { name: "more" } } }
           attr { key: "body" value { func { name: "step" } } } }
    node { name: "y" op: "Neg" input: "loop:1" attr { key: "T" value { type: DT_FLOAT } } }
    library {
      function {
        signature { name: "more" input_arg { name: "i" type: DT_FLOAT }
                    input_arg { name: "a" type: DT_FLOAT } input_arg { name: "n" type: DT_FLOAT }
                    output_arg { name: "r" type: DT_BOOL } }
        node_def { name: "less" op: "Less" input: "i" input: "n"
                   attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "less:z:0" } }
      function {
        signature { name: "step" input_arg { name: "i" type: DT_FLOAT }
                    input_arg { name: "a" type: DT_FLOAT } input_arg { name: "n" type: DT_FLOAT }
                    output_arg { name: "j" type: DT_FLOAT } output_arg { name: "b" type: DT_FLOAT }
                    output_arg { name: "m" type: DT_FLOAT } }
        node_def { name: "two" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
                   attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }
        node_def { name: "six" op: "Mul" input: "two:output:0" input: "three:output:0"
                   attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "three" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
                   attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 3 } } } }
        node_def { name: "next" op: "AddV2" input: "i" input: "six:z:0"
                   attr { key: "T" value { type: DT_FLOAT } } }
        node_def { name: "call" op: "square" input: "a" }
        ret { key: "j" value: "next:z:0" } ret { key: "b" value: "call:r:0" }
        ret { key: "m" value: "n" } }
      function {
        signature { name: "square" input_arg { name: "a" type: DT_FLOAT }
                    output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "cos" op: "Cos" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "cos:y:0" } } })";

// The body of the loop is copied, since the end is known, its constants are folded, and its call is
// inlined.
TEST(OptWatch, ExplainsNodesOfFunctions) {
  const std::string model = TempFile("loop.pbtxt", kLoop);
  const auto explained = [&](const std::string& node) {
    return Document({"opt", model, "--explain-node", node})["explain_node"];
  };
  const json gone = explained("step:six");
  EXPECT_EQ(gone["before"], "six = Mul(two:output:0, three:output:0) T=DT_FLOAT");
  EXPECT_TRUE(gone["after"].is_null());
  EXPECT_THAT(gone["rewrites"],
              ::testing::Contains("function_specialization.push_constants at loop"));
  ASSERT_EQ(gone["became"].size(), 1u) << gone;
  const std::string six = gone["became"][0];
  EXPECT_THAT(six, StartsWith("step_specialized_"));
  const json folded = explained(six);
  EXPECT_EQ(folded["after"], "six = Const() dtype=DT_FLOAT value=f32 6");
  EXPECT_EQ(folded["origins"], json({"step:six", "step:three", "step:two"}));
  EXPECT_THAT(folded["rewrites"], ::testing::Contains("constant_folding.fold at " + six));
  const json inlined = explained("square:cos");
  ASSERT_EQ(inlined["became"].size(), 1u) << inlined;
  EXPECT_THAT(inlined["became"][0].get<std::string>(), ::testing::EndsWith(":call/cos"));
  EXPECT_EQ(explained(inlined["became"][0])["origins"], json({"square:cos", "step:call"}));
  EXPECT_THAT(
      explained("end")["became"].get<std::vector<std::string>>(),
      ::testing::Contains(AllOf(StartsWith("more_specialized_"), ::testing::EndsWith(":n/value"))));

  EXPECT_THAT(GraphRun({"opt", model, "--explain-node", six}).out,
              HasSubstr("step:six (Mul, function at "));
  for (const auto& [name, hint] : std::map<std::string, std::string>{
           {"six", "did you mean 'step:six'?"},
           {"step:sixx", "did you mean 'step:six'?"},
           {"step", "'step' is a function; its nodes are 'step:NODE'"}}) {
    const Finished unknown = GraphRun({"opt", model, "--explain-node", name});
    EXPECT_EQ(unknown.exit, 2);
    EXPECT_THAT(unknown.err, HasSubstr(hint));
  }
}

TEST(OptWatch, ProvenanceOfFunctionsIsWrittenAndRuns) {
  const std::string model = TempFile("loop_model.pbtxt", kLoop);
  const std::string out = TempPath("loop_explained.pbtxt"), plain = TempPath("loop_plain.pbtxt");
  ASSERT_EQ(GraphRun({"opt", model, "--provenance", "-o", out}).exit, 0);
  ASSERT_EQ(GraphRun({"opt", model, "-o", plain}).exit, 0);
  EXPECT_THAT(ReadFile(plain), Not(HasSubstr("_tenon")));
  EXPECT_EQ(GraphRun({"lint", out}).exit, 0);
  const auto answer = [](const std::string& file) {
    return Document({"run", file, "--input", "x=f32=0.5"})["fetches"];
  };
  EXPECT_EQ(answer(out), answer(model));
  const json diff = Document({"diff", model, out});
  std::map<std::string, json> functions;
  for (const json& function : diff["functions"]) functions[function["name"]] = function;
  EXPECT_EQ(functions["step"]["change"], "removed");
  const json changes = Document({"diff", plain, out})["functions"];
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes[0]["change"], "changed");
  for (const json& change : changes[0]["changes"]) {
    EXPECT_EQ(change["change"], "changed");
    EXPECT_FALSE(change["origins"].empty() && change["rewrites"].empty()) << change;
  }
}

// What a page holds.
json DataOf(const std::string& page) {
  const std::string open = "<script id=\"data\" type=\"application/json\">";
  const size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(OptWatch, TheReportShowsBodies) {
  const std::string model = TempFile("loop_report.pbtxt", kLoop);
  const std::string out = TempPath("loop_report.html");
  ASSERT_EQ(GraphRun({"opt", model, "--report", out}).exit, 0);
  const json data = DataOf(ReadFile(out));
  size_t found = 0;
  for (const json& node : data["after"]["bodies"]) {
    const std::string name = node["name"];
    if (!name.ends_with(":next")) continue;
    ++found;
    const std::string prefix = name.substr(0, name.find(':') + 1);
    EXPECT_EQ(node["origins"], json({"step:next"}));
    EXPECT_EQ(node["inputs"], json({prefix + "i", prefix + "six"}));
  }
  EXPECT_EQ(found, 1u);
}

// A node that is run to initialize is optimized on its own; the page is not about that.
TEST(OptWatch, TheReportIsOfTheGraphThatRuns) {
  const std::string model = TempFile("loop_init.pbtxt", kLoop);
  const std::string out = TempPath("loop_init.html");
  ASSERT_EQ(GraphRun({"run", model, "--init", "end", "--input", "x=f32=0.5", "--report", out}).exit,
            0);
  const json data = DataOf(ReadFile(out));
  size_t count = 0;
  for (const json& pass : data["changes"]) {
    count += pass["pass"] == "dependency_optimization" && pass["iteration"] == 0 &&
             pass["function"] == "";
  }
  EXPECT_EQ(count, 1u);
}

// One page that holds its data and asks for nothing else.
TEST(OptWatch, TheReportStandsAlone) {
  const std::string out = TempPath("report.html");
  ASSERT_EQ(GraphRun({"opt", kMlp, "--report", out}).exit, 0);
  const std::string page = ReadFile(out);
  const json data = DataOf(page);
  EXPECT_EQ(data["before"]["count"], 23);
  EXPECT_EQ(data["after"]["nodes"].size(), data["after"]["count"].get<size_t>());
  size_t ran = 0;
  for (const json& pass : data["passes"]) ran += pass["skipped"] == true ? 0 : 1;
  EXPECT_EQ(data["changes"].size(), ran);
  for (const char* loads :
       {"src=", "@import", "url(h", "url(/", "fetch(", "XMLHttpRequest", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(loads)));
  // Addresses stand in comments, but for the name of a language.
  for (size_t at = 0; (at = page.find("://", at + 1)) != page.npos;) {
    if (page.substr(at, 14) == "://www.w3.org/") continue;
    const size_t line = page.rfind('\n', at) + 1;
    EXPECT_THAT(page.substr(line, at - line), HasSubstr("// "));
  }
}

}  // namespace
}  // namespace tenon::testing
