// `opt` of a SavedModel into a folder: another SavedModel, which answers as the first one does.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/e2e/saved_model_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string NewFolder(const std::string& name) {
  const std::string folder = TempPath(name);
  fs::remove_all(folder);
  return folder;
}

// The paths of files in a folder, from it.
std::set<std::string> FilesIn(const std::string& folder) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.insert(fs::relative(entry.path(), folder).string());
  }
  return files;
}

TEST(WrittenModels, AnswerTheSame) {
  for (const std::string name : kSavedModels) {
    const std::string out = NewFolder("written_" + name);
    const Finished opt = GraphRun({"opt", Folder(name), "-o", out});
    ASSERT_EQ(opt.exit, 0) << name << ": " << opt.err;
    const json cases = Document({"run", out, "--cases", Cases(name)})["cases"];
    EXPECT_EQ(cases.size(), json::parse(ReadFile(Cases(name))).size()) << name;
    for (const json& c : cases) EXPECT_TRUE(c["ok"]) << name << ": " << c;
    // All but the graph is as it was.
    EXPECT_EQ(Document({"show", out})["signatures"], Document({"show", Folder(name)})["signatures"])
        << name;
    std::set<std::string> files = FilesIn(Folder(name));
    files.erase("fingerprint.pb");
    EXPECT_EQ(FilesIn(out), files) << name;
    for (const std::string& file : files) {
      if (file == "saved_model.pb") continue;
      EXPECT_EQ(ReadFile(out + "/" + file), ReadFile(Folder(name) + "/" + file)) << name;
    }
  }
}

// Functions that objects name, constants that functions have captured, and what saves.
TEST(WrittenModels, KeepWhatLoadersLookUp) {
  const std::string out = NewFolder("written_nested");
  ASSERT_EQ(GraphRun({"opt", Folder("nested_tables"), "-o", out}).exit, 0);
  const std::string before = ReadFile(Folder("nested_tables") + "/saved_model.pb");
  const std::string after = ReadFile(out + "/saved_model.pb");
  for (const std::string function : {"__inference__initializer_", "__inference__creator_",
                                     "__inference_signature_wrapper_", "Const_3"}) {
    ASSERT_THAT(before, HasSubstr(function));
    EXPECT_THAT(after, HasSubstr(function));
  }
}

TEST(WrittenModels, AreVerified) {
  for (const std::string how : {"structure", "numeric"}) {
    const std::string out = NewFolder("written_verified");
    const Finished opt =
        GraphRun({"opt", Folder("keras_classifier"), "-o", out + "/", "--verify-each=" + how});
    EXPECT_EQ(opt.exit, 0) << opt.err;
    EXPECT_TRUE(fs::exists(out + "/variables"));
  }
}

TEST(WrittenModels, OverwriteNothing) {
  const std::string model = CopyOf("affine_state", "written_source");
  const std::string there = NewFolder("written_there");
  fs::create_directory(there);
  EXPECT_EQ(GraphRun({"opt", model, "-o", there}).exit, 0);  // it was empty
  const Finished again = GraphRun({"opt", model, "-o", there});
  EXPECT_NE(again.exit, 0);
  EXPECT_THAT(again.err, HasSubstr(there + ": exists already, and is no empty folder"));
  for (const std::string& within : {model, model + "/optimized", model + "/../written_source"}) {
    const Finished opt = GraphRun({"opt", model, "-o", within});
    EXPECT_NE(opt.exit, 0) << within;
    EXPECT_THAT(opt.err, HasSubstr("lies within it")) << within;
  }
  EXPECT_EQ(FilesIn(model), FilesIn(Folder("affine_state")));
  const std::string deep = NewFolder("written_deep");
  EXPECT_EQ(GraphRun({"opt", model, "-o", deep + "/a/b"}).exit, 0);
  EXPECT_TRUE(fs::exists(deep + "/a/b/saved_model.pb"));
  // Nothing unfinished is left.
  for (const auto& entry : fs::directory_iterator(fs::path(there).parent_path()))
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("unfinished")));
}

TEST(WrittenModels, AreWhole) {
  for (const std::vector<std::string>& part :
       {std::vector<std::string>{"--signature", "count"}, {"--output", "y"}, {"--keep-state"}}) {
    std::vector<std::string> args = {"opt", Folder("affine_state"), "-o", TempPath("written_part")};
    args.insert(args.end(), part.begin(), part.end());
    const Finished opt = GraphRun(args);
    EXPECT_EQ(opt.exit, 2) << part[0];
    EXPECT_THAT(opt.err, AllOf(HasSubstr(part[0] + ": "), HasSubstr("gets all signatures")));
  }
  EXPECT_FALSE(fs::exists(TempPath("written_part")));
  const Finished plain =
      GraphRun({"opt", "tests/golden/models/mlp/graph.pbtxt", "-o", TempPath("written_part")});
  EXPECT_EQ(plain.exit, 2);
  EXPECT_THAT(plain.err, HasSubstr("the name must end in .pb or .pbtxt"));
}

TEST(WrittenModels, OfText) {
  const std::string model = WriteSavedModel(
      "written_text",
      TextNode("square", "Square", "input: 'x'", "attr { key: 'T' value { type: DT_FLOAT } }") +
          TextVarHandle("v", "v") +
          TextNode("read", "ReadVariableOp", "input: 'v'",
                   "attr { key: 'dtype' value { type: DT_FLOAT } }") +
          TextNode("y", "AddV2", "input: 'square' input: 'read'",
                   "attr { key: 'T' value { type: DT_FLOAT } }"),
      {"v"});
  const std::string out = NewFolder("written_of_text");
  const Finished opt = GraphRun({"opt", model, "-o", out});
  ASSERT_EQ(opt.exit, 0) << opt.err;
  const Finished run = GraphRun({"run", out, "--input", "x=2xf32=1,2", "--expect", "y=2xf32=3,7"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

// What trains reads labels, which no signature takes.
TEST(WrittenModels, KeepPlaceholdersOfTraining) {
  const std::string type = "attr { key: 'T' value { type: DT_FLOAT } }";
  const std::string model = WriteSavedModel(
      "training",
      TextNode("label", "Placeholder", "", "attr { key: 'dtype' value { type: DT_FLOAT } }") +
          TextNode("y", "Neg", "input: 'x'", type) +
          TextNode("loss", "Sub", "input: 'y' input: 'label'", type),
      {});
  std::string text = ReadFile(model + "/saved_model.pbtxt");
  const std::string before = "collection_def {";
  text.insert(text.find(before),
              "collection_def { key: 'losses' value { node_list { value: 'loss:0' } } }\n");
  std::ofstream(model + "/saved_model.pbtxt") << text;
  const std::string out = NewFolder("written_training");
  const Finished opt = GraphRun({"opt", model, "-o", out});
  ASSERT_EQ(opt.exit, 0) << opt.err;
  EXPECT_EQ(GraphRun({"run", out, "--input", "x=2xf32=1,2", "--expect", "y=2xf32=-1,-2"}).exit, 0);
  const Finished loss =
      GraphRun({"run", out, "--input", "x=2xf32=1,2", "--input", "label=2xf32=5,5", "--output",
                "loss", "--expect", "loss=2xf32=-6,-7"});
  EXPECT_EQ(loss.exit, 0) << loss.out << loss.err;
}

}  // namespace
}  // namespace tenon::testing
