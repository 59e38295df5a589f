// opt: what it writes, and for which target.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(Opt, KeepsDevicesThatAreNotHereInBodiesToo) {
  const std::string type = "attr { key: 'T' value { type: DT_FLOAT } }",
                    types = "value { list { type: DT_FLOAT } } } ";
  const std::string in = TempFile(
      "elsewhere.pbtxt",
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
      "node { name: 'c' op: 'PartitionedCall' input: 'x' attr { key: 'Tin' " +
          types + "attr { key: 'Tout' " + types +
          "attr { key: 'f' value { func { name: 'F' } } } } "
          "node { name: 'y' op: 'Exp' input: 'c' " +
          type +
          " } "
          "library { function { signature { name: 'F' input_arg { name: 'a' type: DT_FLOAT } "
          "output_arg { name: 'r' type: DT_FLOAT } } node_def { name: 't' op: 'Tanh' "
          "input: 'a' device: '/device:GPU:0' " +
          type +
          " } "
          "ret { key: 'r' value: 't:y:0' } } }");
  const std::string out = TempPath("elsewhere_out.pbtxt");
  ASSERT_EQ(GraphRun({"opt", in, "--output", "y", "-o", out}).exit, 0);
  EXPECT_THAT(ReadFile(out), HasSubstr("device: \"/device:GPU:0\""));
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
  const json doc = Document({"opt", kMlp, "--plugin", Built("lib/plugins/libapu.so"),
                             "--disable-pass", "remapping, plugin:APU"});
  const auto row = std::find_if(doc["passes"].begin(), doc["passes"].end(),
                                [](const json& p) { return p["name"] == "plugin:APU"; });
  ASSERT_NE(row, doc["passes"].end());
  EXPECT_TRUE((*row)["skipped"]);
  EXPECT_EQ((*row)["reason"], "disabled");
}

}  // namespace
}  // namespace tenon::testing
