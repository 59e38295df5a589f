// run: answers and documents.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

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

// The step that opens a loop writes its variables, each of which is a Merge.
TEST(Run, NamesVariablesOfLoopsInMemory) {
  constexpr char kGraph[] = R"(
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "w" op: "While" input: "x" input: "x"
             attr { key: "T" value { list { type: [DT_FLOAT, DT_FLOAT] } } }
             attr { key: "cond" value { func { name: "c" } } }
             attr { key: "body" value { func { name: "b" } } } }
      node { name: "y" op: "AddV2" input: "w:0" input: "w:1"
             attr { key: "T" value { type: DT_FLOAT } } }
      library {
        function {
          signature { name: "c" input_arg { name: "p" type: DT_FLOAT }
                      input_arg { name: "q" type: DT_FLOAT } output_arg { name: "r" type: DT_BOOL } }
          node_def { name: "ten" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
                     attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { }
                                                          float_val: 10 } } } }
          node_def { name: "axis" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
                     attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { }
                                                          int_val: 0 } } } }
          node_def { name: "max" op: "Max" input: "p" input: "axis:output:0"
                     attr { key: "T" value { type: DT_FLOAT } }
                     attr { key: "Tidx" value { type: DT_INT32 } } }
          node_def { name: "less" op: "Less" input: "max:output:0" input: "ten:output:0"
                     attr { key: "T" value { type: DT_FLOAT } } }
          ret { key: "r" value: "less:z:0" }
        }
        function {
          signature { name: "b" input_arg { name: "p" type: DT_FLOAT }
                      input_arg { name: "q" type: DT_FLOAT }
                      output_arg { name: "r" type: DT_FLOAT }
                      output_arg { name: "s" type: DT_FLOAT } }
          node_def { name: "sum" op: "AddV2" input: "p" input: "q"
                     attr { key: "T" value { type: DT_FLOAT } } }
          node_def { name: "difference" op: "Sub" input: "q" input: "p"
                     attr { key: "T" value { type: DT_FLOAT } } }
          ret { key: "r" value: "sum:z:0" }
          ret { key: "s" value: "difference:z:0" }
        }
      })";
  const json doc =
      Document({"run", TempFile("loop.pbtxt", kGraph), "--input", "x=100xf32=1", "--memory"});
  int merges = 0;
  for (const json& value : doc["memory"]["largest"]) {
    EXPECT_NE(value["op"], "Enter") << value;
    merges += value["op"] == "Merge";
  }
  EXPECT_GT(merges, 0) << doc["memory"];
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
  EXPECT_EQ(line, "op,device,count,total_us,mean_us,max_us,share,p50_us,estimate_us");
  int rows = 0;
  for (; std::getline(lines, line); ++rows)
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 8) << line;
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

// "^node" is run and gives no value, whatever outputs the node has.
TEST(Run, ANodeMayBeRunForItself) {
  const std::string mlp = GoldenGraph("mlp");
  const Finished run =
      GraphRun({"run", mlp, "--input", "x=1x20xf32=1", "--output", "^out", "--quiet"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.out, "");
  const json doc =
      Document({"run", mlp, "--input", "x=1x20xf32=1", "--output", "^out", "--output", "out"});
  ASSERT_EQ(doc["fetches"].size(), 1u) << doc["fetches"];
  EXPECT_EQ(doc["fetches"][0]["name"], "out");
  const Finished unfed = GraphRun({"run", mlp, "--output", "^out"});
  EXPECT_EQ(unfed.exit, 2);
  EXPECT_THAT(unfed.err, HasSubstr("nothing is fed to Placeholder 'x'"));
  const Finished sink =
      GraphRun({"run", mlp, "--input", "x=1x20xf32=1", "--output", "^out=@y.npy"});
  EXPECT_EQ(sink.exit, 2);
  EXPECT_THAT(sink.err, HasSubstr("has no output to write"));
  EXPECT_EQ(GraphRun({"run", mlp, "--input", "^x=1"}).exit, 2);
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
                           "place", "plan", "run", "best of 20: "})
    EXPECT_THAT(run.out, HasSubstr(word));
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
  const std::string all = TempPath("doubles.npz");
  ASSERT_EQ(GraphRun({"run", graph, "--input", "s=2x20xf64=0.5", "--output", "s=@" + all}).exit, 0);
  const std::string named = TempFile("named.pbtxt", R"(
      node { name: 's' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } })");
  const std::string spec = "s=f32(@" + all + "[s])";
  const Finished archive = GraphRun({"run", named, "--inputs", all});
  EXPECT_EQ(archive.exit, 4);
  EXPECT_THAT(archive.err, HasSubstr("; --input '" + spec + "' converts it: feed each array so"));
  EXPECT_EQ(GraphRun({"run", named, "--input", spec}).exit, 0);
}

TEST(Run, SaysWhatAFileOfCasesIs) {
  const std::string cases = TempFile("bad_cases.json", "[\n  {\"feeds\": }]");
  const Finished run = GraphRun({"run", GoldenGraph("mlp"), "--cases", cases});
  EXPECT_EQ(run.exit, 4);
  EXPECT_THAT(run.err, ::testing::StartsWith(cases + ": is no JSON: line 2, column "));
  EXPECT_THAT(run.err, HasSubstr("; a file of cases is an array such as [{\"feeds\": {"));
  const Finished object =
      GraphRun({"run", GoldenGraph("mlp"), "--cases", TempFile("object.json", "{}")});
  EXPECT_THAT(object.err, HasSubstr("is no JSON array; a file of cases is an array such as"));
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

TEST(Run, ReportsPlans) {
  const json run = Document({"run", kMlp, "--input", "x=1x20xf32=ones", "--runs", "5"});
  EXPECT_EQ(run["plan_cache"]["plans_built"], 1);
  EXPECT_EQ(run["plan_cache"]["plans_reused"], 4);
  EXPECT_EQ(run["plan_cache"]["plans_kept"], 1);
  EXPECT_EQ(run["plan_cache"]["max_plans"], 64);
  EXPECT_EQ(run["plan_cache"]["kernels_prepared_in_runs"], 0);
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
