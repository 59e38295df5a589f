// SavedModels as one graph: freeze, and opt of a folder.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
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
using ::testing::Not;

// Signatures that change their variables cannot be frozen, and cases behind them see the change.
bool Changes(const std::string& signature) {
  return signature == "count" || signature == "push" || signature == "train" ||
         signature == "shift";
}

// Signatures of v1_state that cannot be frozen, and why.
const std::map<std::string, std::string>& NotFrozen() {
  static const auto& reasons = *new std::map<std::string, std::string>{
      {"scale", "makes a variable; only those that the graph's own nodes make can be folded"},
      {"queue", "node 'FIFOQueueV2' (FIFOQueueV2) is neither a table nor a variable"},
      {"unnamed", "makes a table without 'shared_name'"},
      {"anonymous", "makes a table without a name, which is a new one in each run"}};
  return reasons;
}

std::string GoldenOf(const std::string& name) { return Golden("saved_models/" + name + "/"); }

// "freeze" or "opt" of a signature, and what they say of it.
json Written(const std::string& command, const std::string& name, const std::string& signature,
             const std::string& out) {
  return Document({command, Folder(name), "--signature", signature, "-o", out});
}

// Arguments that run a frozen signature with a case's feeds, and compare.
std::vector<std::string> FrozenRun(const std::string& out, const json& frozen, const json& c,
                                   const std::string& golden) {
  std::map<std::string, std::string> nodes;
  for (const char* role : {"inputs", "outputs"}) {
    for (const json& t : frozen[role]) nodes[t["name"]] = t["node"];
  }
  std::vector<std::string> args = {"run", out, "--rtol", "1e-4", "--atol", "1e-5"};
  for (const auto& [key, file] : c["feeds"].items())
    args.insert(args.end(), {"--input", nodes[key] + "=@" + golden + file.get<std::string>()});
  for (const auto& [key, file] : c["fetches"].items())
    args.insert(args.end(), {"--output", nodes[key], "--expect",
                             nodes[key] + "=@" + golden + file.get<std::string>()});
  return args;
}

// What a signature answers, from the graph that either command writes.
void AnswersTheSame(const std::string& command) {
  for (const std::string name : kSavedModels) {
    for (const json& c : json::parse(ReadFile(Cases(name)))) {
      const std::string signature = c["signature"];
      if (Changes(signature)) break;
      if (NotFrozen().contains(signature)) continue;
      const std::string out = TempPath(command + "." + name + "." + signature + ".pb");
      const json written = Written(command, name, signature, out);
      std::vector<std::string> args = FrozenRun(out, written, c, GoldenOf(name));
      const Finished optimized = GraphRun(args);
      EXPECT_EQ(optimized.exit, 0) << name << ": " << optimized.err;
      args.insert(args.end(), {"--opt-level", "0"});
      EXPECT_EQ(GraphRun(args).exit, 0) << name;
      EXPECT_THAT(GraphRun({"show", out}).out, Not(HasSubstr("VarHandleOp"))) << name;
    }
  }
}

TEST(Freeze, AnswersTheSame) { AnswersTheSame("freeze"); }
TEST(Opt, OfASavedModelAnswersTheSame) { AnswersTheSame("opt"); }

// Netron and others draw what the file holds, so it holds no calls. The nodes that the signature
// named are still there.
TEST(Freeze, WritesCallsOut) {
  for (const std::string name : {"keras_classifier", "nested_tables"}) {
    const std::string out = TempPath(name + ".calls.pbtxt");
    const json frozen = Written("freeze", name, "serving_default", out);
    EXPECT_EQ(frozen["functions"], 0) << name;
    const std::string text = ReadFile(out);
    EXPECT_THAT(text, Not(HasSubstr("PartitionedCall\""))) << name;
    for (const char* role : {"inputs", "outputs"}) {
      for (const json& t : frozen[role]) {
        const std::string tensor = t["tensor"];
        EXPECT_THAT(text, HasSubstr("name: \"" + tensor.substr(0, tensor.find(':')) + "\""));
      }
    }
    const json outputs = Document({"show", out})["outputs"];
    ASSERT_EQ(outputs.size(), frozen["outputs"].size()) << outputs;
    EXPECT_EQ(outputs[0]["name"], frozen["outputs"][0]["node"]);
  }
}

TEST(Freeze, NamesTheCallsThatStay) {
  const std::string body = R"( library { function {
      signature { name: 'twice' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }
      attr { key: '_noinline' value { b: NOINLINE } }
      node_def { name: 'add' op: 'AddV2' input: 'a' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } }
      ret { key: 'r' value: 'add:z:0' } } })";
  const std::string call = TextNode("y", "PartitionedCall", "input: 'x'",
                                    "attr { key: 'Tin' value { list { type: DT_FLOAT } } }"
                                    "attr { key: 'Tout' value { list { type: DT_FLOAT } } }"
                                    "attr { key: 'f' value { func { name: 'twice' } } }");
  const std::string out = TempPath("calls_stay.pbtxt");
  for (const bool stays : {false, true}) {
    const std::string folder = WriteSavedModel(
        stays ? "noinline" : "inline",
        call + absl::StrReplaceAll(body, {{"NOINLINE", stays ? "true" : "false"}}), {});
    const Finished frozen = GraphRun({"freeze", folder, "-o", out});
    ASSERT_EQ(frozen.exit, 0) << frozen.err;
    EXPECT_EQ(absl::StrContains(frozen.out, "calls that stay: y\n"), stays) << frozen.out;
    EXPECT_EQ(Document({"freeze", folder, "-o", out})["calls"],
              stays ? json::array({"y"}) : json::array());
  }
}

// Writes a frozen graph as text under another name, as a tool that knows no `_tenon_init` would.
std::string WithoutMark(const std::string& frozen, const std::string& as) {
  return TempFile(as, absl::StrReplaceAll(ReadFile(frozen), {{"_tenon_init", "_other"}}));
}

TEST(Freeze, ShowNamesWhatFillsTables) {
  const std::string frozen = TempPath("marked.pbtxt");
  Written("freeze", "nested_tables", "serving_default", frozen);
  const std::string out = WithoutMark(frozen, "tables.pbtxt");
  const json show = Document({"show", out});
  EXPECT_EQ(show["init"], "init_state");
  EXPECT_THAT(show["commands"][0].get<std::string>(), HasSubstr(" --init init_state "));
  // What the mark says need not be said.
  const json marked = Document({"show", frozen});
  EXPECT_EQ(marked["init"], "init_state");
  EXPECT_THAT(marked["commands"][0].get<std::string>(), Not(HasSubstr("--init")));
  const Finished early = GraphRun({"bench", out, "--runs", "1"});
  EXPECT_EQ(early.exit, 1);
  EXPECT_THAT(early.err, HasSubstr("; --init init_state gives variables and tables their first"));
  EXPECT_EQ(GraphRun({"bench", frozen, "--runs", "1"}).exit, 0);
}

TEST(Freeze, KeepsTablesThatFunctionsMake) {
  const std::string out = TempPath("nested.pb");
  const json frozen = Written("freeze", "nested_tables", "serving_default", out);
  EXPECT_EQ(frozen["tables"].size(), 4) << frozen;
  EXPECT_EQ(frozen["init"], "init_state");
  EXPECT_THAT(GraphRun({"freeze", Folder("nested_tables"), "-o", out}).out,
              HasSubstr("which node 'init_state' fills"));
  // A table that the signature fills itself needs no other initializer.
  const json own = Written("freeze", "v1_state", "own", out);
  EXPECT_EQ(own["tables"].size(), 0);
  EXPECT_TRUE(own["init"].is_null());
}

TEST(Freeze, SaysWhatItCannotKeep) {
  for (const auto& [signature, reason] : NotFrozen()) {
    for (const char* command : {"freeze", "opt"}) {
      const std::string out = TempPath(signature + "." + command + ".pb");
      const Finished run =
          GraphRun({command, Folder("v1_state"), "--signature", signature, "-o", out});
      EXPECT_EQ(run.exit, 1) << command << " " << signature;
      EXPECT_THAT(run.err, HasSubstr(reason));
      EXPECT_FALSE(fs::exists(out));
    }
  }
}

// A result that cannot have its name, since another node has it.
TEST(Freeze, WarnsOfNamesThatAreTaken) {
  const std::string model = WriteSavedModel(
      "taken_name",
      TextNode("y", "Exp", "input: 'x'", "attr { key: 'T' value { type: DT_FLOAT } }") +
          TextNode("late", "Neg", "input: 'y'", "attr { key: 'T' value { type: DT_FLOAT } }"),
      {});
  const std::string file = model + "/saved_model.pbtxt";
  std::string proto = ReadFile(file);
  for (const bool renamed : {false, true}) {
    if (renamed) {
      const std::string result = "name: 'y:0'";
      ASSERT_NE(proto.find(result), std::string::npos) << proto;
      proto.replace(proto.find(result), result.size(), "name: 'late:0'");
      TempFile("taken_name/saved_model.pbtxt", proto);
    }
    for (const char* command : {"freeze", "opt"}) {
      const Finished run = GraphRun({command, model, "-o", TempPath("taken.pb")});
      EXPECT_EQ(run.exit, 0) << run.err;
      EXPECT_EQ(run.err, renamed ? "warning: result 'y' of the signature is node 'y_1' of what is "
                                   "written: 'y' there is another node\n"
                                 : "");
    }
  }
}

TEST(Freeze, TwoArgumentsMayBeOneTensor) {
  const json frozen = Written("freeze", "v1_state", "twice", TempPath("twice.pb"));
  ASSERT_EQ(frozen["inputs"].size(), 2);
  EXPECT_EQ(frozen["inputs"][0]["name"], "a");
  EXPECT_EQ(frozen["inputs"][1]["name"], "b");
  EXPECT_EQ(frozen["inputs"][0]["node"], frozen["inputs"][1]["node"]);
}

// A folder whose initializer is known to the user only.
TEST(Freeze, TakesAnInitializer) {
  const std::string model =
      CopyWith("v1_vocabulary", "frozen_by_init", "legacy_init_op", "legacy_init_no");
  const json c = json::parse(ReadFile(Cases("v1_vocabulary")))[0];
  for (const char* command : {"freeze", "opt"}) {
    const std::string out = TempPath(std::string(command) + "_by_init.pb");
    const Finished without = GraphRun({command, model, "-o", out});
    EXPECT_EQ(without.exit, 1);
    EXPECT_THAT(without.err, AllOf(HasSubstr("'hash_table'"), HasSubstr("--init")));
    const json written = Document({command, model, "-o", out, "--init", "tables_init"});
    const Finished run = GraphRun(FrozenRun(out, written, c, GoldenOf("v1_vocabulary")));
    EXPECT_EQ(run.exit, 0) << command << ": " << run.err;
    EXPECT_EQ(GraphRun({command, model, "-o", out, "--init", "table_init"}).exit, 2);
  }
}

TEST(Opt, OfASavedModelTellsTheNames) {
  const std::string out = TempPath("vocabulary.pb");
  const std::vector<std::string> args = {"opt", Folder("vocabulary"), "-o", out};
  EXPECT_THAT(GraphRun(args).out, AllOf(HasSubstr("words"), HasSubstr("ids"), HasSubstr("rows"),
                                        HasSubstr("which node 'init_state' fills")));
  const json doc = Document(args);
  EXPECT_EQ(doc["signature"], "serving_default");
  EXPECT_EQ(doc["inputs"][0]["node"], "words");
  EXPECT_THAT(doc["tables"], ElementsAre("hash_table"));
  EXPECT_EQ(doc["written"], out);
}

// Only what is asked for, and what it needs, is in the way.
TEST(Opt, OfASavedModelWorksForItsOutputs) {
  const std::string out = TempPath("part.pb");
  const std::vector<std::string> args = {
      "opt", Folder("affine_state"), "--signature", "count", "-o", out, "--output"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = args;
    all.insert(all.end(), more.begin(), more.end());
    return GraphRun(all);
  };
  const Finished refused = with({"calls"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("variable 'calls' is written"), HasSubstr("--keep-state"),
                    HasSubstr("opt freezes a SavedModel first: ")));
  const Finished unknown = with({"no_such"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, ::testing::StartsWith("--output 'no_such': no node is named"));
  const Finished read = with({"calls/Read/ReadVariableOp"});
  EXPECT_EQ(read.exit, 0) << read.err;
  const Finished same = GraphRun({"run", out, "--output", "calls/Read/ReadVariableOp", "--expect",
                                  "calls/Read/ReadVariableOp=i64=0"});
  EXPECT_EQ(same.exit, 0) << same.err;
}

TEST(Opt, KeepsStateWhereAsked) {
  const std::string out = TempPath("kept.pb");
  const json doc = Document({"opt", Folder("affine_state"), "--signature", "count", "-o", out,
                             "--keep-state", "--verify-each=numeric"});
  EXPECT_EQ(doc["kept"].size(), 1);
  EXPECT_EQ(doc["verified"]["not_compared"], "");
  for (const json& pass : doc["passes"]) EXPECT_FALSE(pass.value("failed", false)) << pass;
  const json ran = Document({"run", out, "--init", doc["init"], "--input", "x=3x4xf32=ones",
                             "--output", doc["outputs"][0]["node"], "--session-runs", "2"});
  EXPECT_EQ(ran["fetches"][0]["values"][0], 6);
}

// What a function makes can stay, too, under a name that all find it by.
TEST(Freeze, KeepsVariablesOfFunctionsWhereAsked) {
  for (const json& c : json::parse(ReadFile(Cases("v1_state")))) {
    if (c["signature"] != "scale") continue;
    for (const char* command : {"freeze", "opt"}) {
      const std::string out = TempPath(std::string(command) + "_scale.pb");
      const json written = Document(
          {command, Folder("v1_state"), "--signature", "scale", "-o", out, "--keep-state"});
      EXPECT_EQ(written["kept"].size(), 1) << command;
      const Finished run = GraphRun(FrozenRun(out, written, c, GoldenOf("v1_state")));
      EXPECT_EQ(run.exit, 0) << command << ": " << run.err;
    }
  }
}

TEST(Opt, KeepsInitializersOfGraphs) {
  const std::string marked = TempPath("with_init.pbtxt"), out = TempPath("optimized_init.pb");
  const json c = json::parse(ReadFile(Cases("nested_tables")))[0];
  const json written = Written("freeze", "nested_tables", "serving_default", marked);
  EXPECT_EQ(GraphRun({"opt", marked, "-o", out}).err, "");
  EXPECT_EQ(GraphRun(FrozenRun(out, written, c, GoldenOf("nested_tables"))).exit, 0);
  const std::string frozen = WithoutMark(marked, "without_mark.pbtxt");
  const Finished without = GraphRun({"opt", frozen, "-o", out});
  EXPECT_EQ(without.exit, 0);
  EXPECT_THAT(without.err,
              AllOf(HasSubstr("warning"), HasSubstr("nothing that fills it"), HasSubstr("--init")));
  const Finished with =
      GraphRun({"opt", frozen, "-o", out, "--init", "init_state", "--verify-each=numeric"});
  EXPECT_EQ(with.exit, 0);
  EXPECT_EQ(with.err, "");
  std::vector<std::string> run = FrozenRun(out, written, c, GoldenOf("nested_tables"));
  run.insert(run.end(), {"--init", "init_state"});
  EXPECT_EQ(GraphRun(run).exit, 0);
  EXPECT_EQ(GraphRun({"opt", frozen, "-o", out, "--init", "no_such"}).exit, 2);
}

TEST(Opt, OtherCommandsWriteNoGraphWithoutItsState) {
  const std::string out = TempPath("no_state.pb");
  for (const char* command : {"run", "bench", "explain"}) {
    const Finished run = GraphRun({command, Folder("affine_state"), "--save-optimized", out});
    EXPECT_EQ(run.exit, 2) << command;
    EXPECT_THAT(run.err, HasSubstr("graph_run opt"));
    EXPECT_FALSE(fs::exists(out));
  }
}

// The passes see what the signature's function held, and what they leave is a graph of the same
// names.
TEST(Freeze, WritesWhatPassesSee) {
  const std::string name = "keras_classifier";
  const std::string frozen_path = TempPath("frozen.pb"), out = TempPath("optimized.pb");
  json frozen = Document({"freeze", Folder(name), "-o", frozen_path});
  const json doc =
      Document({"opt", frozen_path, "-o", out, "--output", frozen["outputs"][0]["tensor"]});
  EXPECT_LT(doc["nodes_after"], doc["nodes_before"]);
  const json ops = Document({"show", out})["ops"];
  EXPECT_EQ(ops.value("_FusedMatMul", 0), 1) << ops;
  EXPECT_EQ(ops.value("StatefulPartitionedCall", 0), 0) << ops;
  frozen["outputs"][0]["node"] = frozen["outputs"][0]["tensor"];
  const json cases = json::parse(ReadFile(Cases(name)));
  const Finished run = GraphRun(FrozenRun(out, frozen, cases[0], GoldenOf(name)));
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(GraphRun({"opt", frozen_path, "--disable-pass", "function_optimization"}).exit, 0);
}

TEST(Freeze, WritesTheSameBytesEachTime) {
  const std::string a = TempPath("a.pb"), b = TempPath("b.pb");
  for (const char* name : {"vocabulary", "nested_tables"}) {
    for (const std::string& out : {a, b})
      ASSERT_EQ(GraphRun({"freeze", Folder(name), "-o", out}).exit, 0);
    EXPECT_TRUE(ReadFile(a) == ReadFile(b)) << name;
  }
}

TEST(Freeze, RefusesVariablesThatAreWritten) {
  const Finished run = GraphRun(
      {"freeze", Folder("affine_state"), "--signature", "count", "-o", TempPath("count.pb")});
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("'calls'"), HasSubstr("AssignAddVariableOp")));
  EXPECT_EQ(GraphRun({"freeze", Folder("affine_state")}).exit, 2);
  EXPECT_EQ(
      GraphRun({"freeze", "tests/golden/models/mlp/graph.pbtxt", "-o", TempPath("x.pb")}).exit, 2);
}

// A SavedModel whose result is x times the length of an asset, which a node reads by the path that
// a variable holds.
std::string WriteReader(const std::string& as) {
  const std::string text = "attr { key: 'dtype' value { type: DT_STRING } } ";
  const std::string model = WriteSavedModel(
      as,
      TextNode("path", "Const", "",
               text + "attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape { } "
                      "string_val: 'words.txt' } } }") +
          TextNode("a", "VarHandleOp", "", text + "attr { key: 'shape' value { shape { } } }") +
          TextNode("set_a", "AssignVariableOp", "input: 'a' input: 'path'", text) +
          TextNode("fill", "NoOp", "input: '^set_a'") +
          TextNode("of_a", "ReadVariableOp", "input: 'a'", text) +
          TextNode("read", "ReadFile", "input: 'of_a'") +
          TextNode("length", "StringLength", "input: 'read'") +
          TextNode("times", "Cast", "input: 'length'",
                   "attr { key: 'SrcT' value { type: DT_INT32 } } "
                   "attr { key: 'DstT' value { type: DT_FLOAT } }") +
          TextNode("y", "Mul", "input: 'x' input: 'times'",
                   "attr { key: 'T' value { type: DT_FLOAT } }"),
      {});
  std::string proto = ReadFile(model + "/saved_model.pbtxt");
  const std::string init = "value: 'init'", signature = "signature_def";
  proto.replace(proto.find(init), init.size(), "value: 'fill'");
  proto.insert(proto.find(signature),
               "asset_file_def { tensor_info { name: 'path:0' } filename: 'words.txt' } ");
  TempFile(as + "/saved_model.pbtxt", proto);
  fs::create_directories(model + "/assets");
  TempFile(as + "/assets/words.txt", "seven!\n");
  return model;
}

// What is written runs from any folder.
TEST(Freeze, NamesAssetsByAbsolutePaths) {
  const std::string model = WriteReader("reader");
  const std::string words = fs::canonical(model).string() + "/assets/words.txt";
  const std::string relative = fs::relative(model).string();
  for (const std::string command : {"freeze", "opt"}) {
    const std::string out = TempPath("reader.pbtxt");
    const Finished written = GraphRun({command, relative, "-o", out});
    EXPECT_EQ(written.exit, 0) << written.err;
    EXPECT_THAT(written.out,
                HasSubstr("it may read files, which must stay where they are: " + words + "\n"));
    EXPECT_THAT(ReadFile(out), HasSubstr("\"" + words + "\""));
    EXPECT_EQ(Document({command, relative, "-o", out})["files"], json({words}));
    const json run = Document({"run", out, "--input", "x=2xf32=ones", "--allow-file-io"});
    EXPECT_EQ(run["fetches"][0]["values"], json({7, 7}));
  }
  EXPECT_EQ(Document({"run", relative, "--input", "x=2xf32=ones"})["fetches"][0]["values"][0], 7);
  EXPECT_EQ(Document({"freeze", Folder("affine_state"), "-o", TempPath("none.pb")})["files"],
            json::array());
}

TEST(Freeze, LeavesFunctionsThatNoFetchCalls) {
  const std::string model = WriteSavedModel(
      "uncalled",
      TextVarHandle("v", "v") +
          TextNode("r", "ReadVariableOp", "input: 'v'",
                   "attr { key: 'dtype' value { type: DT_FLOAT } }") +
          TextNode("y", "Mul", "input: 'x' input: 'r'",
                   "attr { key: 'T' value { type: DT_FLOAT } }") +
          TextNode("other", "StatefulPartitionedCall", "input: 'v'",
                   "attr { key: 'Tin' value { list { type: DT_RESOURCE } } } "
                   "attr { key: 'Tout' value { list { } } } "
                   "attr { key: 'f' value { func { name: 'strange' } } }") +
          "library { function { signature { name: 'strange' input_arg { name: 'h' type: "
          "DT_RESOURCE } } node_def { name: 'u' op: 'Unknown' input: 'h' } } }\n",
      {"v"});
  const std::string out = TempPath("uncalled.pbtxt");
  for (const std::string command : {"freeze", "opt"}) {
    const Finished written = GraphRun({command, model, "-o", out});
    EXPECT_EQ(written.exit, 0) << written.err;
    EXPECT_EQ(written.err, "");
    EXPECT_THAT(ReadFile(out), Not(HasSubstr("strange")));
  }
  EXPECT_EQ(GraphRun({"run", model, "--input", "x=2xf32=ones"}).exit, 0);
}

TEST(Freeze, RefusesReadersOfAnotherType) {
  for (const std::string op : {"ResourceGather", "ResourceGatherNd", "ReadVariableOp"}) {
    const bool gathers = op != "ReadVariableOp";
    const std::string model = WriteSavedModel(
        "another_type",
        TextVarHandle("v", "v") +
            TextNode("i", "Const", "",
                     "attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { "
                     "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 0 } } }") +
            TextNode("r", op, std::string("input: 'v'") + (gathers ? " input: 'i'" : ""),
                     std::string("attr { key: 'dtype' value { type: DT_INT32 } }") +
                         (gathers ? " attr { key: 'Tindices' value { type: DT_INT32 } }" : "")) +
            TextNode("y", "Cast", "input: 'r'",
                     "attr { key: 'SrcT' value { type: DT_INT32 } } "
                     "attr { key: 'DstT' value { type: DT_FLOAT } }"),
        {"v"});
    const Finished frozen = GraphRun({"freeze", model, "-o", TempPath("another_type.pb")});
    EXPECT_NE(frozen.exit, 0) << op;
    // The import refuses a plain read already.
    EXPECT_THAT(
        frozen.err,
        HasSubstr("node 'r' (" + op +
                  (gathers ? ") reads variable 'v' as DT_INT32, and it is DT_FLOAT"
                           : "): Trying to read variable with wrong dtype. Expected float")));
  }
}

TEST(Freeze, KeepsGradientsOfFunctionsThatStay) {
  const std::string types = "value { list { type: DT_FLOAT } } } ";
  const auto call = [&](const std::string& name, const std::string& function) {
    return TextNode(name, "PartitionedCall", "input: 'x'",
                    "attr { key: 'Tin' " + types + "attr { key: 'Tout' " + types +
                        "attr { key: 'f' value { func { name: '" + function + "' } } }");
  };
  const auto function = [](const std::string& name) {
    return "function { signature { name: '" + name +
           "' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } } "
           "ret { key: 'r' value: 'a' } attr { key: '_noinline' value { b: true } } } ";
  };
  const std::string model = WriteSavedModel(
      "gradients",
      call("of_f", "f") + call("of_g", "g") +
          TextNode("y", "Mul", "input: 'of_f' input: 'of_g'",
                   "attr { key: 'T' value { type: DT_FLOAT } }") +
          "library { " + function("f") + function("g") +
          "gradient { function_name: 'f' gradient_func: 'g' } "
          "gradient { function_name: 'f' gradient_func: 'gone' } "
          "registered_gradients { gradient_func: 'g' registered_op_type: 'of_f' } }\n",
      {});
  const std::string out = TempPath("gradients.pbtxt");
  ASSERT_EQ(GraphRun({"freeze", model, "-o", out}).exit, 0);
  EXPECT_THAT(ReadFile(out),
              AllOf(HasSubstr("gradient_func: \"g\""), HasSubstr("registered_op_type: \"of_f\""),
                    Not(HasSubstr("gone"))));
}

TEST(Freeze, KeepsVariablesThatAreWrittenWhereAsked) {
  const std::string out = TempPath("count.pbtxt");
  const json frozen = Document(
      {"freeze", Folder("affine_state"), "--signature", "count", "-o", out, "--keep-state"});
  EXPECT_EQ(frozen["kept"].size(), 1);
  const json doc = Document({"run", out, "--init", frozen["init"], "--input", "x=3x4xf32=ones",
                             "--output", frozen["outputs"][0]["node"], "--session-runs", "2"});
  EXPECT_EQ(doc["fetches"][0]["values"][0], 6);
}

}  // namespace
}  // namespace tenon::testing
