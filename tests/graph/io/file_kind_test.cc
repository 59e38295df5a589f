#include "graph/io/file_kind.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "graph/io/io.h"
#include "graph/wire/wire.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string BytesOfSavedModel() {
  return ReadAll(testing::Golden("saved_models/vocabulary/model/saved_model.pb"));
}

// What a saver writes as .meta is what a SavedModel holds.
std::string MetaGraphBytes() {
  const std::string model = BytesOfSavedModel();
  WireReader reader(model);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == 2) return std::string(f.bytes);
  }
  return "";
}

std::string Message(uint32_t number, std::string_view bytes) {
  std::string message;
  WireWriter(&message).Bytes(number, bytes);
  return message;
}

std::string Numbered(const std::string& rest) {
  std::string message;
  WireWriter(&message).Varint(1, 8);
  return message + rest;
}

std::string Zip(const std::string& name) {
  return std::string("PK\x03\x04\x14\0\0\0\0\0", 10) + std::string(20, '\0') + name + "data";
}

TEST(FileKind, SaysWhatToDoWithOtherFiles) {
  const std::string tar = "./model" + std::string(250, '\0') + "ustar  ";
  const struct {
    std::string content, says;
  } files[] = {
      {BytesOfSavedModel(), "name the folder that it is in"},
      {"# text\n\nsaved_model_schema_version: 1\n", "name the folder that it is in"},
      {"meta_graphs {\n}\n", "name the folder that it is in"},
      {MetaGraphBytes(), "simple_save"},
      {"meta_info_def {\n}\n", "simple_save"},
      {"\x89HDF\r\n\x1a\n rest", "model.export(DIR)"},
      {Zip("metadata.json") + "model.weights.h5", "model.export(DIR)"},
      {Zip("x.npy"), "--inputs FILE"},
      {Zip("model/saved_model.pb"), "unpack it, and name the folder"},
      {Zip("net/data.pkl"), "PyTorch"},
      {Zip("anything"), "unpack it"},
      {ReadAll(testing::Golden("saved_models/vocabulary/0_fetches_ids.npy")), "--input NAME=@FILE"},
      {"\x28\xb5\x2f\xfd rest", "zstd -d"},
      {"\x04\x22\x4d\x18 rest", "lz4 -d"},
      {"BZh91AY&SY rest", "bunzip2"},
      {"BZh11AY&SY rest", "bunzip2"},
      {"BZh9\x17\x72\x45\x38\x50\x90 rest", "bunzip2"},
      {"\x7f"
       "ELF rest",
       "--plugin"},
      {"ML\xefR rest", "MLIR"},
      {"{\"format\": \"graph-model\", \"modelTopology\": {\"node\": []}}", "TensorFlow.js"},
      {" {\n  \"node\" : []}", "is JSON"},
      {"GGUF rest", "GGUF"},
      {std::string("\x1c\0\0\0TFL3", 8), "TensorFlow Lite"},
      {tar, "tar archive"},
      {ReadAll(testing::Golden("saved_models/vocabulary/model/variables/variables.index")),
       "checkpoint"},
      {"model_checkpoint_path: \"ck\"\n", "checkpoint"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
      {"<!DOCTYPE html>\n<html>", "page of the web"},
      {Numbered(Message(2, "maker") + Message(7, "graph") + Message(8, "opset")),
       "ONNX model, not a GraphDef: make a SavedModel of it"},
      {ReadAll(testing::Golden("saved_models/vocabulary/model/fingerprint.pb")), "another kind"},
  };
  for (const auto& [content, says] : files) {
    EXPECT_THAT(std::string(WhatItIsInstead(content)), HasSubstr(says));
    const absl::StatusOr<Imported> imported = ImportBytes(content, "file");
    ASSERT_FALSE(imported.ok()) << says;
    EXPECT_EQ(imported.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(imported.status().message()), ::testing::StartsWith("file: is "));
  }
}

// The values of a checkpoint are bare bytes: only the name tells.
TEST(FileKind, PartsOfCheckpointsAreKnownByTheirNames) {
  const std::string values(64, '\x3f');
  for (const char* name :
       {"variables.data-00000-of-00001", "/a/model.ckpt-7.data-00003-of-00128"}) {
    const absl::StatusOr<Imported> imported = ImportBytes(values, name);
    ASSERT_FALSE(imported.ok());
    EXPECT_EQ(imported.status().message(),
              std::string(name) +
                  ": is a part of a checkpoint, which holds values only: name the folder of a "
                  "SavedModel");
  }
  EXPECT_THAT(std::string(ImportBytes(values, "x.data-1").status().message()),
              ::testing::Not(HasSubstr("checkpoint")));
  // A graph is one, whatever its name.
  EXPECT_TRUE(ImportBytes("node { name: 'a' op: 'NoOp' }", "g.data-00000-of-00001").ok());
}

TEST(FileKind, GraphsAreWhatTheyAre) {
  const std::string node = Message(1, Message(1, "a") + Message(2, "NoOp"));
  const std::string function = Message(1, Message(1, Message(1, "f")));
  for (const std::string& graph :
       {std::string(), node, node + Message(2, function), Message(2, function) + node,
        node + node + Message(4, ""), Message(4, ""),
        Message(1, Message(1, "TFL3") + Message(2, "NoOp")),
        // 32 bytes are a blank, a name of 13 a line end.
        Message(1, Message(1, "meta_graphs/x") + Message(2, std::string(15, 'O'))),
        std::string("node { name: 'a' op: 'NoOp' }"),
        std::string("# meta_graphs\nversions { producer: 1 }")})
    EXPECT_EQ(WhatItIsInstead(graph), "") << graph;
  for (const auto& entry : fs::recursive_directory_iterator(testing::Golden("passes"))) {
    if (entry.is_regular_file()) EXPECT_EQ(WhatItIsInstead(ReadAll(entry.path())), "");
  }
}

TEST(FileKind, AnEmptyFileHoldsNoGraph) {
  const std::string path = (fs::temp_directory_path() / "file_kind_test_empty.pb").string();
  std::ofstream(path).close();
  const absl::StatusOr<Imported> imported = ImportFile(path);
  fs::remove(path);
  ASSERT_FALSE(imported.ok());
  EXPECT_THAT(std::string(imported.status().message()), HasSubstr("is empty"));
}

// The tag of a node alone is a line feed, which is no graph in text either.
TEST(FileKind, WhiteSpaceHoldsNoGraph) {
  for (const char* const bytes : {"\n", " ", "\r\n\t \n"}) {
    const absl::StatusOr<Imported> imported = ImportBytes(bytes, "blank.pb");
    EXPECT_EQ(imported.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(imported.status().message()),
                HasSubstr("blank.pb:1: holds nothing but white space"));
  }
  EXPECT_TRUE(ImportBytes("# a graph of no nodes\n", "none.pbtxt").ok());
}

}  // namespace
}  // namespace tenon
