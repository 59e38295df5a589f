// SavedModel folders through the command line: answers, state, faults of their files.
#include <gmock/gmock.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/e2e/saved_model_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void FlipByte(const std::string& path, size_t at) {
  std::string bytes = ReadFile(path);
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(SavedModels, MatchTensorFlow) {
  for (const char* name : kSavedModels) {
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{},
          {"--opt-level", "0"},
          {"--plugin", Built("lib/plugins/libapu.so"), "--threads", "2"}}) {
      std::vector<std::string> args = {"run", Folder(name), "--cases", Cases(name)};
      args.insert(args.end(), how.begin(), how.end());
      const json doc = Document(args);
      EXPECT_EQ(doc["cases"].size(), json::parse(ReadFile(Cases(name))).size()) << name;
      for (const json& c : doc["cases"]) EXPECT_TRUE(c["ok"]) << name << ": " << c;
    }
  }
}

TEST(SavedModels, CasesThatDiffer) {
  const fs::path golden = fs::absolute(Golden("saved_models/affine_state"));
  const auto file = [&](const char* name) { return (golden / name).string(); };
  const json cases = {{{"signature", "count"},
                       {"feeds", {{"x", file("2_feeds_x.npy")}}},
                       {"fetches", {{"calls", file("3_fetches_calls.npy")}}}}};
  const std::string path = TempFile("cases.json", cases.dump());
  const json doc = Document({"run", Folder("affine_state"), "--cases", path}, 3);
  EXPECT_FALSE(doc["cases"][0]["ok"]);
  EXPECT_THAT(doc["status"]["message"].get<std::string>(),
              AllOf(HasSubstr("case 0"), HasSubstr("calls")));
  EXPECT_EQ(GraphRun({"run", Folder("affine_state"), "--cases", path, "--op-table"}).exit, 2);
  EXPECT_EQ(GraphRun({"run", Folder("affine_state"), "--cases", TempFile("no.json", "[{]")}).exit,
            4);
  EXPECT_EQ(GraphRun({"run", Folder("affine_state"), "--cases", path, "--input", "x=1"}).exit, 2);
}

TEST(SavedModels, StateMovesOnFromRunToRun) {
  const json doc = Document({"run", Folder("affine_state"), "--signature", "count", "--input",
                             "x=3x4xf32=ones", "--output", "calls", "--session-runs", "3"});
  std::vector<int> calls;
  for (const json& run : doc["runs"]) calls.push_back(run["fetches"][0]["values"][0]);
  EXPECT_THAT(calls, ElementsAre(3, 6, 9));
  EXPECT_EQ(doc["fetches"][0]["name"], "calls");
  EXPECT_EQ(doc["fetches"][0]["values"][0], 9);
}

TEST(SavedModels, ShowHasTheSignaturesAndAWorkingCommand) {
  const Finished text = GraphRun({"show", Folder("affine_state")});
  EXPECT_THAT(text.out, AllOf(HasSubstr("tag-set: 'serve'"), HasSubstr("signature_def['count']"),
                              HasSubstr("DT_INT64"), HasSubstr("(-1, 4)"), HasSubstr("count_x:0"),
                              HasSubstr("tensorflow/serving/predict")));
  const json doc = Document({"show", Folder("affine_state"), "--signature", "count"});
  const auto count = std::find_if(doc["signatures"].begin(), doc["signatures"].end(),
                                  [](const json& s) { return s["name"] == "count"; });
  ASSERT_NE(count, doc["signatures"].end());
  EXPECT_EQ((*count)["inputs"][0]["tensor"], "count_x:0");
  EXPECT_EQ((*count)["outputs"].size(), 2);
  std::istringstream words(doc["commands"][0].get<std::string>());
  std::vector<std::string> args;
  for (std::string word; words >> word;)
    args.push_back(word.starts_with('\'') ? word.substr(1, word.size() - 2) : word);
  args.erase(args.begin());
  EXPECT_EQ(GraphRun(args).exit, 0) << doc["commands"][0];
}

TEST(SavedModels, ShowTellsWhatTheyCompute) {
  const json doc = Document({"show", Folder("affine_state"), "--signature", "count"});
  EXPECT_EQ(doc["variable_count"], 1);
  EXPECT_EQ(doc["changed_variables"].size(), 1);
  const json affine = Document({"show", Folder("affine_state")});
  EXPECT_EQ(affine["variable_count"], 2);
  EXPECT_EQ(affine["parameters"], 15);
  EXPECT_EQ(affine["variable_bytes"], 60);
  EXPECT_THAT(affine["changed_variables"], IsEmpty());
  EXPECT_EQ(affine["ops"]["MatMul"], 1);
  EXPECT_FALSE(affine["ops"].contains("RestoreV2"));
  EXPECT_GT(affine["flops"], 24);
  // The body of a loop.
  const json loop = Document({"show", Folder("recurrent")});
  EXPECT_EQ(loop["ops"]["MatMul"], 2);
  EXPECT_GT(loop["flops"], 100);
  EXPECT_EQ(loop["unknown_cost_nodes"], 0);
}

TEST(SavedModels, WhatNothingChangesIsConstant) {
  const auto constants = [](std::vector<std::string> args) {
    return Document(args)["constant_variables"].get<int>();
  };
  const std::string model = Folder("affine_state");
  EXPECT_EQ(constants({"run", model, "--input", "x=1x4xf32=ones"}), 2);
  EXPECT_EQ(constants({"run", model, "--input", "x=1x4xf32=ones", "--opt-level", "0"}), 0);
  // What "count" changes is none of them.
  EXPECT_EQ(constants({"run", model, "--signature", "count", "--input", "x=1x4xf32=ones"}), 2);
  EXPECT_EQ(constants({"explain", model}), 2);
  EXPECT_EQ(constants({"run", Folder("recurrent"), "--input", "seq=1x2x3xf32=ones"}), 2);
}

// Two nodes of the graph find one variable by its shared name: what one changes the other must
// read.
TEST(SavedModels, WhatAnotherNodeOfTheVariableChangesIsNotConstant) {
  const std::string dtype = "attr { key: 'dtype' value { type: DT_FLOAT } }";
  const std::string model =
      WriteSavedModel("two_nodes",
                      TextVarHandle("v", "shared") + TextVarHandle("w", "shared") +
                          TextNode("add", "AssignAddVariableOp", "input: 'w' input: 'x'", dtype) +
                          TextNode("y", "ReadVariableOp", "input: 'v' input: '^add'", dtype),
                      {"v"});
  const json doc = Document({"run", model, "--input", "x=2xf32=10", "--session-runs", "2"});
  EXPECT_EQ(doc["constant_variables"], 0);
  EXPECT_EQ(doc["fetches"][0]["values"], json({22, 23}));
  // Both stay in what is frozen, and one node fills them.
  const std::string out = TempPath("two_nodes.pb");
  const json frozen = Document({"freeze", model, "-o", out, "--keep-state"});
  EXPECT_EQ(frozen["kept"].size(), 1);
  const json again = Document({"run", out, "--init", frozen["init"], "--input", "x=2xf32=10",
                               "--output", "y", "--session-runs", "2"});
  EXPECT_EQ(again["fetches"][0]["values"], json({22, 23}));
}

TEST(SavedModels, OtherCommandsTakeThem) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"lint", Folder("recurrent")},
        {"explain", Folder("vocabulary")},
        {"opt", Folder("affine_state"), "-o", TempPath("predict.pb")},
        {"explain", Folder("v1_state"), "--signature", "twice"},
        {"bench", Folder("affine_state"), "--input", "x=2x4xf32=ones", "--runs", "5"},
        {Folder("affine_state"), "--input", "x=2x4xf32=ones"}}) {
    const Finished run = GraphRun(args);
    EXPECT_EQ(run.exit, 0) << args[0] << ": " << run.err;
  }
}

TEST(SavedModels, SignaturesThatDoNotExist) {
  const Finished wrong = GraphRun({"run", Folder("affine_state"), "--signature", "predict"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("count, serving_default"));
  const Finished graph =
      GraphRun({"run", "tests/golden/models/mlp/graph.pbtxt", "--signature", "predict"});
  EXPECT_EQ(graph.exit, 2);
  EXPECT_THAT(graph.err, HasSubstr("no SavedModel"));
  const Finished unfed = GraphRun({"run", Folder("affine_state")});
  EXPECT_EQ(unfed.exit, 2);
  EXPECT_THAT(unfed.err, HasSubstr("--input 'x="));
  const Finished argument = GraphRun({"run", Folder("affine_state"), "--input", "z=1"});
  EXPECT_EQ(argument.exit, 2);
  EXPECT_THAT(argument.err, HasSubstr("signature 'serving_default' has x"));
}

TEST(SavedModels, FilesThatAreMissingOrDamaged) {
  const auto run = [](const std::string& folder) {
    return GraphRun({"run", folder, "--cases", Cases("vocabulary")});
  };
  const std::string asset = CopyOf("vocabulary", "no_asset");
  fs::remove(asset + "/assets/words.txt");
  Finished finished = run(asset);
  EXPECT_EQ(finished.exit, 4);
  EXPECT_THAT(finished.err, HasSubstr("words.txt"));

  const std::string cut = CopyOf("vocabulary", "cut_shard");
  fs::resize_file(cut + "/variables/variables.data-00000-of-00001", 60);
  finished = run(cut);
  EXPECT_EQ(finished.exit, 4);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("variables.data-00000-of-00001"), HasSubstr("embedding")));

  const std::string flipped = CopyOf("vocabulary", "bad_checksum");
  FlipByte(flipped + "/variables/variables.data-00000-of-00001", 40);
  finished = run(flipped);
  EXPECT_EQ(finished.exit, 4);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("variables.data-00000-of-00001"), HasSubstr("embedding")));

  const std::string index = CopyOf("vocabulary", "no_index");
  fs::remove(index + "/variables/variables.index");
  finished = run(index);
  EXPECT_EQ(finished.exit, 4);
  EXPECT_THAT(finished.err, HasSubstr("variables.index"));

  EXPECT_EQ(GraphRun({"freeze", index, "-o", TempPath("frozen.pb")}).exit, 4);

  const Finished nothing = GraphRun({"run", "tests/golden/saved_models"});
  EXPECT_EQ(nothing.exit, 4);
  EXPECT_THAT(nothing.err, HasSubstr("is no SavedModel"));
}

// Keras keeps the values of variables for copies of those that its functions read.
TEST(SavedModels, VariablesAreFoundByTheObjectsThatTheyBelongTo) {
  const auto run = [&](const std::string& folder) {
    return GraphRun({"run", folder, "--input", "x=2x4xf32=ones"});
  };
  const Finished renamed =
      run(CopyWith("keras_objects", "renamed", "\x12\x07_kernel", "\x12\x07_kernal"));
  EXPECT_EQ(renamed.exit, 4);
  EXPECT_THAT(renamed.err, AllOf(HasSubstr("variables.index"), HasSubstr("dense/kernel"),
                                 HasSubstr("saved_model.pb")));
  const std::string gone = CopyOf("keras_objects", "gone");
  fs::remove_all(gone + "/variables");
  const Finished without = run(gone);
  EXPECT_EQ(without.exit, 4);
  EXPECT_THAT(without.err, HasSubstr("variables.index"));
}

TEST(SavedModels, CompositeResultsAreTheirParts) {
  const std::string folder = Folder("composites");
  EXPECT_THAT(GraphRun({"show", folder}).out,
              AllOf(HasSubstr("(RaggedTensorSpec)"), HasSubstr("(SparseTensorSpec)"),
                    HasSubstr("outputs['words/1']"), HasSubstr("outputs['pairs/indices']")));
}

// What is no file might keep its reader waiting.
// A counter; the signature's result `step` is the node that counts.
constexpr char kCounter[] = R"(
    saved_model_schema_version: 1
    meta_graphs {
      meta_info_def { tags: "serve" }
      graph_def { versions { producer: 2474 }
        node { name: "v" op: "VarHandleOp"
               attr { key: "dtype" value { type: DT_FLOAT } }
               attr { key: "shape" value { shape { } } }
               attr { key: "shared_name" value { s: "v" } } }
        node { name: "one" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
               attr { key: "value"
                      value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }
        node { name: "set" op: "AssignVariableOp" input: "v" input: "one"
               attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "add" op: "AssignAddVariableOp" input: "v" input: "one"
               attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "read" op: "ReadVariableOp" input: "v"
               attr { key: "dtype" value { type: DT_FLOAT } } } }
      collection_def { key: "saved_model_main_op" value { node_list { value: "set" } } }
      signature_def {
        key: "count"
        value { method_name: "count"
                outputs { key: "one" value { name: "one:0" dtype: DT_FLOAT tensor_shape { } } }
                outputs { key: "step" value { name: "add" dtype: DT_FLOAT } } } }
      signature_def {
        key: "look"
        value { method_name: "look"
                outputs { key: "at" value { name: "read:0" dtype: DT_FLOAT tensor_shape { } } } } }
    })";

TEST(SavedModels, ResultsWithoutValueAreRun) {
  const std::string model = TempPath("counter");
  fs::create_directories(model);
  std::ofstream(model + "/saved_model.pbtxt") << kCounter;
  const std::vector<std::string> count = {"run", model, "--signature", "count"};
  const json doc = Document(count);
  ASSERT_EQ(doc["fetches"].size(), 1);
  EXPECT_EQ(doc["fetches"][0]["name"], "one");
  EXPECT_THAT(GraphRun(count).out, Not(HasSubstr("step")));

  const std::string cases = TempFile("count_and_look.json", R"([
      {"signature": "look", "feeds": {}, "fetches": {"at": "one.npy"}},
      {"signature": "count", "feeds": {}, "fetches": {"one": "one.npy"}},
      {"signature": "look", "feeds": {}, "fetches": {"at": "two.npy"}}])");
  const auto look = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {"run", model, "--signature", "look"};
    args.insert(args.end(), more.begin(), more.end());
    EXPECT_EQ(GraphRun(args).exit, 0);
  };
  look({"--output", "at=@" + TempPath("one.npy"), "--expect", "at=1"});
  look({"--output", "at=@" + TempPath("two.npy"), "--expect", "at=2", "--init", "add"});
  const json ran = Document({"run", model, "--cases", cases});
  for (const json& c : ran["cases"]) EXPECT_TRUE(c["ok"]) << c;

  const Finished written =
      GraphRun({"run", model, "--signature", "count", "--output", "step=@" + TempPath("step.npy")});
  EXPECT_EQ(written.exit, 2);
  EXPECT_THAT(written.err, HasSubstr("the node has no output to write"));
  const Finished frozen =
      GraphRun({"freeze", model, "--signature", "count", "-o", TempPath("counter.pb")});
  EXPECT_EQ(frozen.exit, 1);
  EXPECT_THAT(frozen.err, HasSubstr("'step' of signature 'count' (add) is a node without outputs"));
}

TEST(SavedModels, PipesAreNoFiles) {
  for (const std::string file :
       {"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"}) {
    for (const bool allowed : {false, true}) {
      const std::string copy = CopyOf("keras_objects", "pipe");
      const std::string path = copy + "/" + file;
      fs::remove(path);
      ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
      std::vector<std::string> args = {"run", copy, "--input", "x=2x4xf32=ones"};
      if (allowed) args.emplace_back("--allow-file-io");
      const Finished finished = GraphRun(args);
      EXPECT_EQ(finished.exit, 4);
      EXPECT_THAT(finished.err, AllOf(HasSubstr(file), HasSubstr("is no regular file")));
    }
  }
}

TEST(SavedModels, AssetsLieInTheirFolder) {
  const Finished finished =
      GraphRun({"run", CopyWith("vocabulary", "outside", "words.txt", "../wo.txt"), "--cases",
                Cases("vocabulary")});
  EXPECT_EQ(finished.exit, 4);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("saved_model.pb"), HasSubstr("'../wo.txt'"),
                                  HasSubstr("outside of the folder 'assets'")));
}

constexpr char kVariable[] = R"(
    node { name: "v" op: "VarHandleOp"
           attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { } } }
           attr { key: "shared_name" value { s: "v" } } }
    node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 7 } } } }
    node { name: "set" op: "AssignVariableOp" input: "v" input: "c"
           attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "ReadVariableOp" input: "v"
           attr { key: "dtype" value { type: DT_FLOAT } } })";

TEST(Init, RunsNodesBeforeAllElse) {
  const std::string path = TempFile("variable.pbtxt", kVariable);
  const Finished without = GraphRun({"run", path, "--output", "y"});
  EXPECT_EQ(without.exit, 1);
  const json doc = Document({"run", path, "--output", "y", "--init", "set"});
  EXPECT_EQ(doc["fetches"][0]["values"][0], 7.0);
  const Finished wrong = GraphRun({"run", path, "--output", "y", "--init", "sat"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'set'"));
}

// The graph's own constant is a path on the machine that made it.
TEST(Init, GetsThePathsOfAssets) {
  const std::string model =
      CopyWith("v1_vocabulary", "no_initializer", "legacy_init_op", "legacy_init_no");
  const std::string golden = Golden("saved_models/v1_vocabulary/");
  for (const char* command : {"run", "bench", "bisect"}) {
    std::vector<std::string> args = {command, model, "--input",
                                     "words=@" + golden + "0_feeds_words.npy"};
    const std::string name(command);
    if (name == "bench") args.insert(args.end(), {"--runs", "2"});
    if (name == "run")
      args.insert(args.end(), {"--expect", "ids=@" + golden + "0_fetches_ids.npy"});
    const Finished without = GraphRun(args);
    EXPECT_EQ(without.exit, 1) << command;
    EXPECT_THAT(without.err, HasSubstr("is not initialized")) << command;
    args.insert(args.end(), {"--init", "tables_init"});
    const Finished with = GraphRun(args);
    EXPECT_EQ(with.exit, 0) << command << ": " << with.err;
  }
}

constexpr char kReadFile[] = R"(
    node { name: "name" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }
    node { name: "y" op: "ReadFile" input: "name" })";

TEST(Files, AreClosedToGraphsUnlessTheUserSaysSo) {
  const std::string graph = TempFile("read_file.pbtxt", kReadFile);
  const std::string text = TempFile("text.txt", "abc");
  const std::vector<std::string> args = {
      "run", graph, "--input", "name=str=\"" + text + "\"", "--expect", "y=str=\"abc\""};
  const Finished refused = GraphRun(args);
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("text.txt"), HasSubstr("--allow-file-io")));
  std::vector<std::string> allowed = args;
  allowed.emplace_back("--allow-file-io");
  EXPECT_EQ(GraphRun(allowed).exit, 0);
}

constexpr char kUnknownOps[] = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "a" op: "NoSuchOp" input: "x" }
    node { name: "m" op: "WholeFileReaderV2" }
    node { name: "c" op: "f" }
    node { name: "b" op: "Neg" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "y" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    library { function { signature { name: "f" output_arg { name: "r" type: DT_FLOAT } }
                         node_def { name: "n" op: "NoSuchOp" } ret { key: "r" value: "n:out:0" } } })";

TEST(UnknownOps, AreInNobodysWayThatDoesNotNeedThem) {
  const std::string path = TempFile("unknown_ops.pbtxt", kUnknownOps);
  for (const char* level : {"0", "1"}) {
    const std::vector<std::string> run = {"run", path, "--input", "x=3", "--opt-level", level};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), run.begin(), run.end());
      return GraphRun(more);
    };
    const Finished fine = with({"--output", "y"});
    EXPECT_EQ(fine.exit, 0) << fine.err;
    const Finished behind = with({"--output", "b"});
    EXPECT_EQ(behind.exit, 1);
    EXPECT_THAT(behind.err, AllOf(HasSubstr("node 'a'"), HasSubstr("NoSuchOp")));
    EXPECT_EQ(with({"--output", "a"}).exit, 1);
    const Finished kernel_less = with({"--output", "m"});
    EXPECT_EQ(kernel_less.exit, 1);
    EXPECT_THAT(kernel_less.err, HasSubstr("WholeFileReaderV2"));
    const Finished called = with({"--output", "c"});
    EXPECT_EQ(called.exit, 1);
    EXPECT_THAT(called.err, AllOf(HasSubstr("node 'n' (NoSuchOp)"), HasSubstr("function 'f'")));
  }
  EXPECT_EQ(GraphRun({"show", path}).exit, 0);
  const Finished lint = GraphRun({"lint", path});
  EXPECT_EQ(lint.exit, 4);
  EXPECT_THAT(lint.err,
              AllOf(HasSubstr("function 'f'"), HasSubstr("'m' (WholeFileReaderV2): no device")));
}

}  // namespace
}  // namespace tenon::testing
