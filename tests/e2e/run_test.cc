// run, opt, show, explain, devices: answers and documents.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kMlp[] = "tests/golden/models/mlp/graph.pbtxt";

struct Model {
  std::string name;
  std::vector<std::string> feeds, fetches, extra;
};

class GoldenModels : public ::testing::TestWithParam<Model> {};

// Optimized, not optimized, and with the APU: TensorFlow's numbers.
TEST_P(GoldenModels, MatchTensorFlow) {
  const Model& model = GetParam();
  for (const std::vector<std::string>& how : {std::vector<std::string>{},
                                              {"--opt-level", "0"},
                                              {"--plugin", Built("lib/plugins/libapu.so")},
                                              {"--threads", "2", "--verify-each"}}) {
    std::vector<std::string> args = GoldenRun(model.name, model.feeds, model.fetches);
    args.insert(args.end(), model.extra.begin(), model.extra.end());
    args.insert(args.end(), how.begin(), how.end());
    const json doc = Document(args);
    for (const json& expect : doc["expect"]) EXPECT_TRUE(expect["ok"]) << expect;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenModels,
    ::testing::Values(
        Model{"mlp", {"x"}, {"out"}, {}},
        Model{"cnn_bn", {"x"}, {"out"}, {"--rtol", "2e-4", "--atol", "2e-5"}},
        Model{"dlrm", {"dense", "sparse"}, {"out"}, {"--rtol", "1e-4", "--atol", "1e-5"}}),
    [](const auto& info) { return info.param.name; });

// What cannot be shown to fit at run time is not optimized away with its error.
TEST(Run, ErrorsOfMovesSurviveTheOptimizer) {
  constexpr char kHead[] = R"(
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "shape" value { shape { unknown_rank: true } } } }
      node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
             attr { key: "value" value { tensor { dtype: DT_INT32 )";
  constexpr char kTranspose[] = R"(tensor_shape { dim { size: 2 } } int_val: [0, 1] } } } }
      node { name: "m" op: "Transpose" input: "x" input: "c"
             attr { key: "T" value { type: DT_FLOAT } }
             attr { key: "Tperm" value { type: DT_INT32 } } })";
  constexpr char kSplit[] = R"(tensor_shape { } int_val: 2 } } } }
      node { name: "m" op: "Split" input: "c" input: "x"
             attr { key: "T" value { type: DT_FLOAT } }
             attr { key: "num_split" value { i: 1 } } })";
  constexpr char kTail[] = R"(
      node { name: "y" op: "Neg" input: "m" attr { key: "T" value { type: DT_FLOAT } } })";
  for (const char* move : {kTranspose, kSplit}) {
    const std::string file = TempFile("move.pbtxt", std::string(kHead) + move + kTail);
    for (const char* level : {"0", "1"}) {
      const Finished run = GraphRun({"run", file, "--opt-level", level, "--input", "x=2xf32=1,2"});
      EXPECT_EQ(run.exit, 1) << run.out;
      EXPECT_THAT(run.err, HasSubstr("node 'm'"));
    }
  }
}

// The outputs of a graph are what every run computes once: not what one branch or one pass does.
TEST(Show, OutputsOfBranchesAndLoops) {
  const auto node = [](const std::string& name, const std::string& op,
                       const std::vector<std::string>& inputs, const std::string& attrs) {
    std::string text = "node { name: '" + name + "' op: '" + op + "' ";
    for (const std::string& input : inputs) text += "input: '" + input + "' ";
    return text + attrs + "}\n";
  };
  const auto type = [](const std::string& name, const std::string& of) {
    return "attr { key: '" + name + "' value { type: DT_" + of + " } } ";
  };
  const std::string t = type("T", "FLOAT"), n2 = "attr { key: 'N' value { i: 2 } } ";
  const auto loop = [&](const std::string& name, const std::string& from) {
    const std::string frame = "attr { key: 'frame_name' value { s: '" + name + "' } } ";
    return node(name + "/enter", "Enter", {from}, t + frame) +
           node(name + "/merge", "Merge", {name + "/enter", name + "/next"}, t + n2) +
           node(name + "/less", "Less", {name + "/merge", "limit"}, t) +
           node(name + "/again", "LoopCond", {name + "/less"}, "") +
           node(name + "/switch", "Switch", {name + "/merge", name + "/again"}, t) +
           node(name + "/pass", "Square", {name + "/switch:1"}, t) +
           node(name + "/next", "NextIteration", {name + "/pass"}, t) +
           node(name + "/exit", "Exit", {name + "/switch"}, t);
  };
  const std::string graph = node("x", "Placeholder", {}, type("dtype", "FLOAT")) +
                            node("limit", "Placeholder", {}, type("dtype", "FLOAT")) +
                            node("p", "Placeholder", {}, type("dtype", "BOOL")) +
                            node("sw", "Switch", {"x", "p"}, t) + node("no", "Neg", {"sw"}, t) +
                            node("yes", "Abs", {"sw:1"}, t) + node("unused", "Exp", {"sw:1"}, t) +
                            node("chosen", "Merge", {"no", "yes"}, t + n2) +
                            loop("outer", "chosen") + loop("inner", "outer/switch:1");
  const json doc = Document({"show", TempFile("loops.pbtxt", graph)});
  std::vector<std::string> outputs;
  for (const json& output : doc["outputs"]) outputs.push_back(output["name"]);
  EXPECT_THAT(outputs, ElementsAre("outer/exit"));
}

TEST(Run, TellsWhenStepsRan) {
  const std::string trace = TempPath("trace.json");
  const json doc = Document({"run", kMlp, "--input", "x=4x20xf32=ones", "--runs", "3",
                             "--concurrency", "2", "--trace", trace, "--op-table", "--memory"});
  int64_t count = 0;
  double share = 0;
  for (const json& row : doc["op_table"]) {
    EXPECT_EQ(row["device"], "/device:CPU:0");
    EXPECT_GE(row["max_us"], row["mean_us"]);
    count += row["count"].get<int64_t>();
    share += row["share"].get<double>();
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_GT(doc["memory"]["arena_bytes"], 0);
  for (const json& value : doc["memory"]["largest"])
    EXPECT_LE(value["first_step"], value["last_step"]) << value;
  ASSERT_FALSE(doc["memory"]["largest"].empty());

  int64_t runs = 0, steps = 0;
  std::set<int> threads;
  const json events = json::parse(ReadFile(trace))["traceEvents"];
  for (const json& event : events) {
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["dur"], 0);
    threads.insert(event["tid"].get<int>());
    runs += event["name"].get<std::string>().starts_with("run ");
    steps += event.contains("args");
  }
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(steps, count);
  EXPECT_EQ(steps % 3, 0);
  EXPECT_EQ(threads.size(), 2);
}

TEST(Run, OpTableAsText) {
  const std::vector<std::string> args = {"run", kMlp, "--input", "x=4x20xf32=ones"};
  std::vector<std::string> csv = args, text = args;
  csv.push_back("--op-table=csv");
  text.push_back("--op-table");
  std::istringstream lines(GraphRun(csv).out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "op,device,count,total_us,mean_us,max_us,share,p50_us");
  int rows = 0;
  for (; std::getline(lines, line); ++rows)
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 7) << line;
  EXPECT_GT(rows, 0);
  EXPECT_THAT(GraphRun(text).out, HasSubstr("of 1 run"));
}

TEST(Run, Document) {
  const json doc = Document({"run", kMlp, "--input", "x=@tests/golden/models/mlp/feeds/x.npy",
                             "--expect", "out=@tests/golden/models/mlp/fetches/out.npy"});
  EXPECT_EQ(doc["nodes_imported"], 23);
  EXPECT_LT(doc["nodes_optimized"], 23);
  EXPECT_EQ(doc["devices"]["/device:CPU:0"], doc["nodes_optimized"]);
  for (const char* stage : {"load", "optimize", "place", "plan", "first_run"})
    EXPECT_TRUE(doc["times_ms"][stage].is_number()) << stage;
  ASSERT_EQ(doc["fetches"].size(), 1);
  const json& fetch = doc["fetches"][0];
  EXPECT_EQ(fetch["name"], "out");
  EXPECT_EQ(fetch["dtype"], "f32");
  EXPECT_EQ(fetch["shape"], json({4, 10}));
  EXPECT_EQ(fetch["values"].size(), 40);
  EXPECT_EQ(fetch["sink"], "-");
  const json& expect = doc["expect"][0];
  for (const char* key : {"name", "ok", "max_abs", "max_rel", "max_ulp", "mismatches"})
    EXPECT_TRUE(expect.contains(key)) << key;
}

TEST(Run, NamesAreAsTypedAndPortsAreAllowed) {
  const json doc = Document(
      {"run", kMlp, "--input", "x:0=2x20xf32=iota", "--output", "out:0", "--output", "out"});
  EXPECT_EQ(doc["fetches"][0]["name"], "out:0");
  EXPECT_EQ(doc["fetches"][0]["values"], doc["fetches"][1]["values"]);
}

TEST(Run, WritesWhatItReads) {
  const std::string npy = TempPath("y.npy"), npz = TempPath("all.npz"), bin = TempPath("y.bin");
  const std::vector<std::string> feed = {"run", kMlp, "--quiet", "--input",
                                         "x=3x20xf32=normal(seed=5)"};
  std::vector<std::string> write = feed, compare = feed;
  write.insert(write.end(), {"--output", "out=@" + npy, "--output", "out:0=@" + npz, "--output",
                             "x=@" + npz, "--output", "out=@" + bin});
  const Finished written = GraphRun(write);
  EXPECT_EQ(written.exit, 0) << written.err;
  compare.insert(compare.end(), {"--max-ulp", "0", "--expect", "out=@" + npy, "--expect",
                                 "out:0=@" + npz + "[out:0]", "--expect", "out=3x10xf32=@" + bin,
                                 "--expect", "out=(ignored)"});
  const Finished compared = GraphRun(compare);
  EXPECT_EQ(compared.exit, 0) << compared.err << compared.out;
  const std::string feeds = TempPath("feeds.npz");
  EXPECT_EQ(GraphRun({"run", kMlp, "--input", "x=2x20xf32=ones", "--output", "x=@" + feeds}).exit,
            0);
  EXPECT_EQ(GraphRun({"run", kMlp, "--inputs", feeds}).exit, 0);
}

TEST(Run, AMismatchIsExitThree) {
  const Finished run = GraphRun(
      {"run", kMlp, "--json", "--input", "x=1x20xf32=ones", "--expect", "out=1x10xf32=0.5"});
  EXPECT_EQ(run.exit, 3);
  EXPECT_THAT(run.err, HasSubstr("element [0,0] is"));
  const json doc = json::parse(run.out);
  EXPECT_NE(doc["status"]["code"], "OK");
  EXPECT_FALSE(doc["expect"][0]["ok"]);
  EXPECT_EQ(doc["expect"][0]["mismatches"], 10);
  EXPECT_EQ(doc["fetches"].size(), 1);
}

TEST(Run, RandomNumbersAreTheSameEverywhere) {
  const json doc =
      Document({"run", kMlp, "--input", "x=1x20xf32=random(seed=7,lo=-1,hi=1)", "--output", "x"});
  const json again =
      Document({"run", kMlp, "--input", "x=1x20xf32=random(seed=7,lo=-1,hi=1)", "--output", "x"});
  EXPECT_EQ(doc["fetches"][0]["values"], again["fetches"][0]["values"]);
  for (const double value : doc["fetches"][0]["values"]) EXPECT_TRUE(value >= -1 && value < 1);
}

TEST(Run, NonFiniteNumbersAreStrings) {
  const json doc =
      Document({"run", kMlp, "--input", "x=1x20xf32=1,nan,inf,-inf,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
                "--output", "x"});
  EXPECT_EQ(doc["fetches"][0]["values"][1], "NaN");
  EXPECT_EQ(doc["fetches"][0]["values"][2], "Infinity");
  EXPECT_EQ(doc["fetches"][0]["values"][3], "-Infinity");
}

TEST(Run, NoColourWithoutATerminal) {
  EXPECT_THAT(GraphRun({"run", kMlp, "--input", "x=1x20xf32=ones"}).out,
              ::testing::Not(HasSubstr("\033[")));
}

TEST(Run, StandardInput) {
  const Finished run =
      GraphRun({{"run", "-", "--input", "x=1x20xf32=ones", "--quiet"}, ReadFile(kMlp), {}});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(Run, StoryNamesEveryStage) {
  const Finished run = GraphRun({"run", kMlp, "--input", "x=1x20xf32=ones", "--story", "--plugin",
                                 Built("lib/plugins/libapu.so")});
  EXPECT_EQ(run.exit, 0) << run.err;
  for (const char* word : {"import", "optimize", "plugin:APU", "Relu became ApuBiasRelu 2 times",
                           "place", "plan", "run"})
    EXPECT_THAT(run.out, HasSubstr(word));
}

TEST(Show, DocumentAndReadyCommands) {
  const json doc = Document({"show", kMlp});
  EXPECT_EQ(doc["inputs"], json::parse(R"([{"name":"x","dtype":"f32","shape":[-1,20]}])"));
  EXPECT_EQ(doc["outputs"], json::parse(R"([{"name":"out","dtype":"f32","shape":[-1,10]}])"));
  EXPECT_EQ(doc["ops"]["MatMul"], 3);
  EXPECT_EQ(doc["nodes"], 23);
  EXPECT_EQ(doc["functions"], 0);
  EXPECT_GT(doc["const_bytes"], 20000);
  EXPECT_GT(doc["flops"], 10000);
}

// The printed command lines run as they are.
TEST(Show, CommandsWork) {
  for (const char* model : {"mlp", "bert_tiny", "dlrm", "grappler_food"}) {
    const json doc = Document({"show", GoldenGraph(model)});
    std::istringstream words(doc["commands"][0].get<std::string>());
    std::vector<std::string> args;
    for (std::string word; words >> word;) {
      std::erase(word, '\'');
      args.push_back(word);
    }
    args.erase(args.begin());
    const Finished run = GraphRun(args);
    EXPECT_EQ(run.exit, 0) << model << ": " << run.err;
  }
}

TEST(Opt, WritesAGraphThatGivesTheSame) {
  const std::string out = TempPath("opt.pbtxt.gz");
  const json doc = Document({"opt", kMlp, "-o", out});
  EXPECT_EQ(doc["nodes_before"], 23);
  EXPECT_LT(doc["nodes_after"], 23);
  for (const char* key :
       {"name", "iteration", "changed", "skipped", "reason", "time_us", "nodes_before",
        "nodes_after", "edges_before", "edges_after", "rewrites"}) {
    EXPECT_TRUE(doc["passes"][0].contains(key)) << key;
  }
  const Finished run = GraphRun({"run", out, "--input", "x=@tests/golden/models/mlp/feeds/x.npy",
                                 "--expect", "out=@tests/golden/models/mlp/fetches/out.npy"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(doc["written"], out);
  const json none = Document({"opt", kMlp, "--bisect-limit", "0"});
  for (const json& pass : none["passes"])
    EXPECT_TRUE(pass["rewrites"].empty() || pass["changed"] == false) << pass;
}

TEST(Opt, WritesWhatTheTargetRuns) {
  const std::string model = "tests/golden/models/cnn_bn/graph.pbtxt", out = TempPath("opt.pbtxt");
  const auto count = [&](std::vector<std::string> target, const char* op) {
    std::vector<std::string> args = {"opt", model, "-o", out};
    args.insert(args.end(), target.begin(), target.end());
    Document(args);
    return Document({"show", out})["ops"].value(op, 0);
  };
  const std::vector<std::vector<std::string>> fusing = {
      {"--target", "tensorflow@2.11"}, {"--target", "tensorflow+onednn"}, {"--target", "tenon"}};
  EXPECT_EQ(count({}, "_FusedConv2D"), 0);
  EXPECT_EQ(count({}, "_FusedMatMul"), 1);
  EXPECT_EQ(count({"--target", "tensorflow"}, "_FusedConv2D"), 0);
  for (const std::vector<std::string>& target : fusing)
    EXPECT_GT(count(target, "_FusedConv2D"), 0) << target.back();
  EXPECT_EQ(count({"--target=tensorflow@2.21"}, "_FusedDepthwiseConv2dNative"), 0);
  EXPECT_EQ(count({"--target=tensorflow+onednn"}, "_FusedDepthwiseConv2dNative"), 1);
  // No TensorFlow has a fused Conv2D with Tanh.
  EXPECT_EQ(count({"--target=tensorflow+onednn"}, "Tanh"), 1);
  EXPECT_EQ(count({"--target=tenon"}, "Tanh"), 0);
}

TEST(Opt, RefusesTargetsThatThereAreNot) {
  const Finished run = GraphRun({"opt", kMlp, "--target", "tensorflow+onedn"});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err,
              HasSubstr("(did you mean 'tensorflow+onednn'?); there are tensorflow (every"));
  EXPECT_EQ(GraphRun({"run", kMlp, "--target", "onnx"}).exit, 2);
}

TEST(Opt, LeavesOutWhatOldVersionsDoNotKnow) {
  const std::string model = "tests/golden/models/lstm_keras/graph.pbtxt",
                    out = TempPath("old.pbtxt");
  ASSERT_THAT(ReadFile(model), HasSubstr("grad_a"));
  Document({"opt", model, "-o", out});
  EXPECT_THAT(ReadFile(out), Not(HasSubstr("grad_a")));
  Document({"opt", model, "-o", out, "--target=tensorflow@2.16"});
  EXPECT_THAT(ReadFile(out), HasSubstr("grad_a"));
}

TEST(Opt, TellsWhichVersionAGraphNeeds) {
  const json mlp = Document({"opt", kMlp});
  EXPECT_EQ(mlp["target"], "tensorflow");
  EXPECT_EQ(mlp["tensorflow"], "2.0");
  EXPECT_EQ(Document({"opt", kMlp, "--target=tensorflow@2.3"})["tensorflow"], "2.3");
  EXPECT_FALSE(Document({"opt", kMlp, "--target=tenon"}).contains("tensorflow"));
  const std::string newer = "tests/golden/models/greedy_decode/graph.pbtxt";
  EXPECT_EQ(Document({"opt", newer})["tensorflow"], "2.13");
  EXPECT_EQ(GraphRun({"opt", newer}).err, "");
  EXPECT_THAT(
      GraphRun({"opt", newer, "--target=tensorflow@2.12"}).err,
      HasSubstr("warning: --target tensorflow@2.12: the graph runs in TensorFlow 2.13 and "
                "later, which brought attribute 'resize_if_index_out_of_bounds' of node '"));
}

TEST(Opt, SaysWhenNothingIsWritten) {
  const Finished run = GraphRun({"opt", kMlp});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("nothing is written; add -o"));
  EXPECT_TRUE(Document({"opt", kMlp})["written"].is_null());
}

// The names that --list-passes prints are those that --disable-rewrite takes, and reports count.
TEST(Opt, ListsPassesAndRewrites) {
  const json list = Document({"opt", "--list-passes"});
  const std::string text = GraphRun({"opt", "--list-passes"}).out;
  std::set<std::string> names;
  for (const json& pass : list["available_passes"]) {
    EXPECT_TRUE(!pass["rewrites"].empty() || !pass["off"].is_null()) << pass;
    for (const json& rewrite : pass["rewrites"]) {
      names.insert(rewrite["name"]);
      EXPECT_THAT(text, HasSubstr(rewrite["name"].get<std::string>()));
      EXPECT_NE(rewrite["exactness"], "");
    }
  }
  EXPECT_THAT(text, HasSubstr("(max_bytes=10000000)"));
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
  int64_t counted = 0;
  const json all_on = Document({"opt", kMlp});
  for (const json& pass : all_on["passes"]) {
    for (const auto& [rewrite, count] : pass["rewrites"].items()) {
      EXPECT_TRUE(names.contains(pass["name"].get<std::string>() + "." + rewrite)) << rewrite;
      counted += count.get<int64_t>();
    }
  }
  EXPECT_GT(counted, 0);
  const json all_off = Document({"opt", kMlp, "--disable-rewrite", all});
  for (const json& pass : all_off["passes"]) EXPECT_TRUE(pass["rewrites"].empty()) << pass;
}

TEST(Opt, ThePassOfAPluginCanBeSwitchedOff) {
  const json doc = Document(
      {"opt", kMlp, "--plugin", Built("lib/plugins/libapu.so"), "--disable-pass", "plugin:APU"});
  const auto row = std::find_if(doc["passes"].begin(), doc["passes"].end(),
                                [](const json& p) { return p["name"] == "plugin:APU"; });
  ASSERT_NE(row, doc["passes"].end());
  EXPECT_TRUE((*row)["skipped"]);
  EXPECT_EQ((*row)["reason"], "disabled");
}

// Nodes that a plug-in's pass rewrote are reasoned about anew, and every reason has its detail.
TEST(Explain, ReasonsAfterAPluginsPass) {
  const json doc = Document({"explain", kMlp, "--plugin", Built("lib/plugins/libapu.so")});
  int fused = 0, greedy = 0;
  for (const json& node : doc["nodes"]) {
    for (const json& rejected : node["rejected"]) EXPECT_NE(rejected["detail"], "") << node;
    if (node["op"] == "Const" || node["op"] == "Placeholder") {
      EXPECT_EQ(node["reason"], "GREEDY") << node;
      ++greedy;
    }
    if (node["op"] != "ApuBiasRelu") continue;
    ++fused;
    EXPECT_EQ(node["reason"], "PRIORITY");
    EXPECT_EQ(node["rejected"][0]["code"], "NO_KERNEL") << node;
  }
  EXPECT_EQ(fused, 2);
  EXPECT_GT(greedy, 0);
}

TEST(Run, BindingDevices) {
  const std::vector<std::string> run = {"run", kMlp, "--input", "x=1x20xf32=ones", "--json"};
  const std::vector<std::vector<std::string>> refused = {
      {"--device", "GPU:0", "--soft-placement=off"},
      {"--device", "GPU:0", "--no-fallback"},
      {"--place", ".*=GPU:0", "--soft-placement=off"},
      {"--place", ".*=CPU:7", "--no-fallback"}};
  for (const auto& flags : refused) {
    std::vector<std::string> args = run;
    args.insert(args.end(), flags.begin(), flags.end());
    const Finished finished = GraphRun(args);
    EXPECT_EQ(finished.exit, 1) << flags[1];
    EXPECT_EQ(json::parse(finished.out)["status"]["code"], "INVALID_ARGUMENT");
    EXPECT_THAT(finished.err, HasSubstr("there is no such device"));
    args.resize(args.size() - 1);
    EXPECT_EQ(GraphRun(args).exit, 0) << flags[1];
  }
}

TEST(Run, AWrongShapeHasNoDifferences) {
  const Finished run = GraphRun(
      {"run", kMlp, "--json", "--input", "x=4x20xf32=ones", "--expect", "out=2x10xf32=0.5"});
  EXPECT_EQ(run.exit, 3);
  EXPECT_THAT(run.err, HasSubstr("(40 mismatches)"));
  const json doc = json::parse(run.out);
  EXPECT_TRUE(doc["expect"][0]["max_abs"].is_null());
  EXPECT_EQ(doc["expect"][0]["mismatches"], 40);
}

TEST(Run, EachMismatchIsToldOnce) {
  const Finished run = GraphRun({"run", kMlp, "--quiet", "--input", "x=1x20xf32=nan", "--expect",
                                 "out=1x10xf32=nan", "--expect", "out=1x10xf32=1"});
  EXPECT_EQ(run.exit, 3);
  EXPECT_THAT(run.out, HasSubstr("differs out\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("element [")));
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 2) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("is nan where nan is right (10 mismatches, max_abs 0); --equal-nan "
                        "lets NaN equal NaN\n"));
  EXPECT_THAT(run.err, HasSubstr("is nan where 1 is right (10 mismatches, max_abs nan)\n"));
}

// Strings need not be text.
TEST(Run, BytesAreInTheDocument) {
  const std::string graph = TempFile("string.pbtxt", R"(
      node { name: 's' op: 'Placeholder' attr { key: 'dtype' value { type: DT_STRING } }
             attr { key: 'shape' value { shape { dim { size: 3 } } } } }
      node { name: 'y' op: 'Identity' input: 's' attr { key: 'T' value { type: DT_STRING } } })");
  const json doc =
      Document({"run", graph, "--input",
                "s=3xstr=\"\\xff\\xfe\\x00z\" \"\\xff\\xfc\\x00z\" \"plain \xc3\xa4\""});
  EXPECT_EQ(doc["fetches"][0]["values"],
            json::parse(R"([{"b64": "//4Aeg=="}, {"b64": "//wAeg=="}, "plain ä"])"));
}

TEST(Run, CastsArraysWhereItIsTold) {
  const std::string doubles = TempPath("doubles.npy");
  const std::string graph = TempFile("double.pbtxt", R"(
      node { name: 's' op: 'Placeholder' attr { key: 'dtype' value { type: DT_DOUBLE } } })");
  ASSERT_EQ(GraphRun({"run", graph, "--input", "s=2x20xf64=0.5", "--output", "s=@" + doubles}).exit,
            0);
  const Finished refused = GraphRun({"run", kMlp, "--input", "x=@" + doubles});
  EXPECT_EQ(refused.exit, 4);
  EXPECT_THAT(refused.err, HasSubstr("the array is f64 where f32 is asked for; f32(@" + doubles +
                                     ") converts it"));
  const Finished cast = GraphRun({"run", kMlp, "--input", "x=float32(@" + doubles + ")"});
  EXPECT_EQ(cast.exit, 0) << cast.err;
}

// What TensorFlow 1 trains: a variable, its first value, a step, and the names of both.
TEST(Show, GraphsThatTrain) {
  const std::string graph = TempFile("train.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 2 } } } } }
      node { name: 'w' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 2 } } } } }
      node { name: 'first' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'value' value { tensor { dtype: DT_FLOAT float_val: 3
                    tensor_shape { dim { size: 2 } } } } } }
      node { name: 'w/Assign' op: 'Assign' input: ['w', 'first']
             attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'w/read' op: 'Identity' input: 'w' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'y' op: 'Mul' input: ['x', 'w/read'] attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'step' op: 'AssignSub' input: ['w', 'x']
             attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'train' op: 'NoOp' input: '^step' }
      node { name: 'init' op: 'NoOp' input: '^w/Assign' })");
  const json doc = Document({"show", graph});
  EXPECT_EQ(doc["targets"], json({"train", "init"}));
  EXPECT_EQ(doc["variables"][0]["name"], "w");
  EXPECT_EQ(doc["init"], "init");
  const std::string line = doc["commands"][0];
  EXPECT_THAT(line, HasSubstr(" --init init "));
  EXPECT_THAT(line, HasSubstr(" --output y"));
  EXPECT_THAT(line, Not(HasSubstr("step")));
  const Finished run = GraphRun({"run", graph, "--init", "init", "--input", "x=2xf32=2", "--output",
                                 "y", "--expect", "y=2xf32=6"});
  EXPECT_EQ(run.exit, 0) << run.err;
  const Finished early = GraphRun({"run", graph, "--input", "x=2xf32=2", "--output", "y"});
  EXPECT_EQ(early.exit, 1);
  EXPECT_THAT(early.err, HasSubstr("; --init init gives all variables their first values"));
  const Finished text = GraphRun({"show", graph});
  EXPECT_THAT(text.out, HasSubstr("targets    train, init\nvariables  w  f32[2]\n"));
}

TEST(Run, PassesAreInTheDocument) {
  for (const char* command : {"run", "bench"}) {
    const json doc =
        Document({command, kMlp, "--input", "x=4x20xf32=ones", "--runs", "2", "--time-passes"});
    EXPECT_EQ(doc["passes"][0]["name"], "model_pruning") << command;
  }
  EXPECT_EQ(Document({"explain", kMlp, "--time-passes"})["passes"][0]["name"], "model_pruning");
}

TEST(Run, ManyTimes) {
  const Finished run = GraphRun({"run", kMlp, "--input", "x=1x20xf32=ones", "--quiet"});
  EXPECT_THAT(run.out, HasSubstr("f32[1,10]"));
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--concurrency", "3", "--runs", "100"}, {"--seconds", "0.05"}}) {
    std::vector<std::string> args = {"run", kMlp, "--input", "x=1x20xf32=ones", "--quiet"};
    args.insert(args.end(), how.begin(), how.end());
    EXPECT_EQ(GraphRun(args).out, run.out);
  }
}

// Messages are one line in the document too, as on stderr.
TEST(Run, DocumentsHaveNoLineFeeds) {
  const std::string graph = TempFile("pool.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_QINT8 } }
             attr { key: 'shape' value { shape { dim { size: 1 } dim { size: 2 } dim { size: 2 }
                                                 dim { size: 4 } } } } }
      node { name: 'y' op: 'MaxPool' input: 'x' attr { key: 'T' value { type: DT_QINT8 } }
             attr { key: 'ksize' value { list { i: [1, 2, 2, 1] } } }
             attr { key: 'strides' value { list { i: [1, 2, 2, 1] } } }
             attr { key: 'padding' value { s: 'VALID' } } })");
  const Finished run = GraphRun({"run", graph, "--json", "--input", "x=1x2x2x4xq8=0"});
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("No OpKernel was registered"));
  EXPECT_EQ(run.out.find("\\n"), std::string::npos) << run.out;
}

TEST(Explain, SaysWhyEachNodeIsWhereItIs) {
  const json doc =
      Document({"explain", kMlp, "--plugin", Built("lib/plugins/libapu.so"), "--opt-level", "0"});
  const auto relu = std::find_if(doc["nodes"].begin(), doc["nodes"].end(),
                                 [](const json& n) { return n["op"] == "Relu"; });
  ASSERT_NE(relu, doc["nodes"].end());
  EXPECT_EQ((*relu)["device"], "/device:APU:0");
  EXPECT_EQ((*relu)["reason"], "PRIORITY");
  ASSERT_EQ((*relu)["copies"].size(), 1);
  EXPECT_EQ((*relu)["copies"][0]["from"], "/device:CPU:0");
  EXPECT_EQ((*relu)["copies"][0]["to"], "/device:APU:0");
  const auto matmul = std::find_if(doc["nodes"].begin(), doc["nodes"].end(),
                                   [](const json& n) { return n["op"] == "MatMul"; });
  EXPECT_EQ((*matmul)["rejected"][0]["code"], "NO_KERNEL");
}

// A few numbers go to the device and back for nothing, unless the pass is asked for.
TEST(Explain, SmallNumbersMoveToTheHost) {
  const std::string model = TempFile("small.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 4 } } } } }
      node { name: 'a' op: 'Exp' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'b' op: 'Relu' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'c' op: 'Relu' input: 'x' device: '/device:APU:0'
             attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'd' op: 'Sub' input: ['b', 'c'] attr { key: 'T' value { type: DT_FLOAT } } })");
  const std::string apu = Built("lib/plugins/libapu.so");
  const auto device_of = [&](std::string_view node, std::vector<std::string> more) {
    std::vector<std::string> args = {"explain", model, "--plugin", apu};
    args.insert(args.end(), more.begin(), more.end());
    const json doc = Document(args);
    for (const json& row : doc["nodes"]) {
      if (row["name"] == node)
        return row["device"].get<std::string>() + " " + row["reason"].get<std::string>();
    }
    return std::string();
  };
  EXPECT_EQ(device_of("b", {"--passes", "model_pruning"}), "/device:APU:0 PRIORITY");
  for (const std::vector<std::string>& asked :
       {std::vector<std::string>{"--passes", "pin_to_host_optimization"},
        {"--config", "pin_to_host_optimization: ON"}}) {
    EXPECT_EQ(device_of("b", asked), "/device:CPU:0 PASS_MOVED") << asked[0];
    EXPECT_EQ(device_of("c", asked), "/device:APU:0 PINNED") << asked[0];
  }
  const json run =
      Document({"run", model, "--plugin", apu, "--passes", "pin_to_host_optimization",
                "--verify-each=numeric", "--input", "x=4xf32=0", "--expect", "d=4xf32=1"});
  EXPECT_EQ(run["devices"]["/device:APU:0"], 1);
}

TEST(Check, ADeviceWithoutTheKernelHasNotImplementedIt) {
  for (const char* how : {"--no-fallback", "--soft-placement=off"}) {
    const json doc = Document({"check", "tests/golden/ops", "--ops", "Abs", "--plugin",
                               Built("lib/plugins/libapu.so"), "--device", "APU", how});
    EXPECT_EQ(doc["summary"]["failed"], 0) << how;
    EXPECT_GT(doc["summary"]["unimplemented"], 0) << how;
  }
}

// An element that is not there, and an Add behind it, as a case that expects an error. `add` is the
// Add's other input; `error` are attributes of the error node.
std::string ErrorCase(std::string_view add, std::string_view error) {
  const auto ints = [](std::string_view name, int value) {
    return absl::StrCat("node { name: 'c0/", name,
                        "' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: "
                        "'value' value { tensor { dtype: DT_INT32 tensor_shape {} int_val: ",
                        value, " } } } }");
  };
  return absl::StrCat(
      "node { name: 'c0/x' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: "
      "'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1 } } "
      "} }",
      ints("five", 5), ints("axis", 0),
      "node { name: 'c0/gather' op: 'GatherV2' input: 'c0/x' input: 'c0/five' input: 'c0/axis' "
      "attr { "
      "key: 'Tparams' value { type: DT_FLOAT } } attr { key: 'Tindices' value { type: DT_INT32 } } "
      "attr { key: 'Taxis' value { type: DT_INT32 } } } node { name: 'c0/op' op: 'AddV2' input: "
      "'c0/gather' input: '",
      add,
      "' attr { key: 'T' value { type: DT_FLOAT } } } node { name: 'c0/error' op: 'NoOp' attr { "
      "key: 'code' value { s: 'INVALID_ARGUMENT' } } ",
      error, " }");
}

std::string MessageOf(std::string_view node) {
  return absl::StrCat("attr { key: 'message' value { s: 'no good for {{node ", node, "}}' } }");
}

// The case's detail; empty if it passes.
std::string DetailOf(const std::string& text) {
  const Finished run = GraphRun({"check", TempFile("error_case.pbtxt", text), "--json"});
  const json c = json::parse(run.out)["cases"][0];
  EXPECT_EQ(c["status"] == "passed", c["detail"] == "") << run.out;
  return c["detail"];
}

TEST(Check, AnErrorOfAnotherNodeIsNotTheRightOne) {
  EXPECT_EQ(DetailOf(ErrorCase("c0/x", MessageOf("c0/gather"))), "");
  EXPECT_THAT(DetailOf(ErrorCase("c0/x", MessageOf("c0/op"))),
              AllOf(HasSubstr("node 'c0/gather' (GatherV2)"),
                    HasSubstr("where an error of node 'c0/op' (AddV2) is right")));
  // Nothing says which: one that the fetch needs.
  EXPECT_EQ(DetailOf(ErrorCase("c0/x", "")), "");
}

TEST(Check, ADefectOfAnotherNodeIsNotTheRightError) {
  EXPECT_EQ(DetailOf(ErrorCase("c0/five", MessageOf("c0/op"))), "");
  EXPECT_THAT(DetailOf(ErrorCase("c0/five", MessageOf("c0/gather"))),
              AllOf(HasSubstr("node 'c0/op' (AddV2)"),
                    HasSubstr("where an error of node 'c0/gather' (GatherV2) is right")));
}

TEST(Check, FunctionsBranchesAndLoops) {
  for (const char* level : {"0", "1"}) {
    const json doc = Document({"check", "tests/golden/control_flow", "--opt-level", level});
    EXPECT_GT(doc["summary"]["passed"], 200) << level;
    for (const char* bad : {"failed", "crashed", "unimplemented"})
      EXPECT_EQ(doc["summary"][bad], 0) << bad << " at level " << level;
  }
}

TEST(Devices, TheDocumentOfOpsIsUpToDate) {
  const Finished run = GraphRun({"devices", "--kernels=markdown"});
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.out, ReadFile("docs/ops.md"))
      << "graph_run devices --kernels=markdown > docs/ops.md";
}

TEST(Run, ReportsPlans) {
  const json run = Document({"run", kMlp, "--input", "x=1x20xf32=ones", "--runs", "5"});
  EXPECT_EQ(run["plan_cache"]["plans_built"], 1);
  EXPECT_EQ(run["plan_cache"]["plans_reused"], 4);
  EXPECT_EQ(run["plan_cache"]["plans_kept"], 1);
  EXPECT_EQ(run["plan_cache"]["max_plans"], 64);
  EXPECT_EQ(run["plan_cache"]["kernels_prepared_in_runs"], 0);
}

TEST(Devices, CpuAndApu) {
  const json doc = Document({"devices", "--plugin", Built("lib/plugins/libapu.so"), "--kernels"});
  EXPECT_EQ(doc["devices"][0]["name"], "/physical_device:CPU:0");
  EXPECT_EQ(doc["devices"][1]["name"], "/physical_device:APU:0");
  EXPECT_GT(doc["devices"][0]["memory_bytes"], int64_t{1} << 28);
  EXPECT_GT(doc["devices"][1]["priority"], doc["devices"][0]["priority"]);
  EXPECT_EQ(doc["plugins"][0]["device_type"], "APU");
  EXPECT_THAT(doc["plugins"][0]["entry_points"].get<std::vector<std::string>>(),
              Contains("SE_InitPlugin"));
  EXPECT_TRUE(doc["plugins"][0]["pass"]);
  EXPECT_GT(doc["kernels"].size(), 100);
}

constexpr char kPrint[] = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "s" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }
    node { name: "i" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
    node { name: "text" op: "StringFormat" input: "x" input: "s" input: "i"
           attr { key: "T" value { list { type: DT_FLOAT type: DT_STRING type: DT_INT32 } } }
           attr { key: "template" value { s: "x =|{}|s:|{}|{\'a\': {}}" } }
           attr { key: "placeholder" value { s: "{}" } }
           attr { key: "summarize" value { i: 2 } } }
    node { name: "print" op: "PrintV2" input: "text" attr { key: "end" value { s: "<\n" } }
           attr { key: "output_stream" value { s: "STREAM" } } }
    node { name: "y" op: "Identity" input: "i" input: "^print"
           attr { key: "T" value { type: DT_INT32 } } })";

// The words are those of tf.print.
TEST(Print, SaysWhatTensorFlowSays) {
  const std::string said = "x =|[[1.5 2 3]\n [4 5 6]]|s:|[\"p\" \"q\"]|{'a': [0 1 ... 8 9]}<\n";
  const auto run = [](const std::string& stream) {
    std::string graph = kPrint;
    graph.replace(graph.find("STREAM"), 6, stream);
    return GraphRun({"run", TempFile("print.pbtxt", graph), "--input", "x=2x3xf32=1.5,2,3,4,5,6",
                     "--input", "s=2xstr=\"p\",\"q\"", "--input", "i=10xi32=iota", "--output",
                     "y"});
  };
  EXPECT_THAT(run("stderr").err, HasSubstr(said));
  const Finished to_stdout = run("stdout");
  EXPECT_THAT(to_stdout.out, HasSubstr(said));
  EXPECT_EQ(to_stdout.exit, 0);
  const Finished to_file = run("file:///tmp/print.txt");
  EXPECT_EQ(to_file.exit, 1);
  EXPECT_THAT(to_file.err, HasSubstr("file:///tmp/print.txt"));
}

}  // namespace
}  // namespace tenon::testing
