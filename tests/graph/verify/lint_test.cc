// Defects and syntax errors, as data: golden/lint.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "graph/io/io.h"
#include "gtest/gtest.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const auto& entry : fs::directory_iterator(testing::Golden("lint"))) {
    if (entry.path().extension() == ".pbtxt") cases.push_back(entry.path().stem());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::string Findings(const std::string& path) {
  const absl::StatusOr<Imported> imported = ImportFile(path);
  std::string found;
  if (imported.ok()) {
    for (const Defect& d : imported->defects) absl::StrAppend(&found, d.ToString(), "\n");
  } else {
    EXPECT_EQ(imported.status().code(), absl::StatusCode::kInvalidArgument);
    found = absl::StrCat(imported.status().message(), "\n");
  }
  return absl::StrReplaceAll(found, {{path, "FILE"}});
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Lint : public ::testing::TestWithParam<std::string> {};

TEST_P(Lint, FindsAllOfIt) {
  const std::string base = testing::Golden(absl::StrCat("lint/", GetParam()));
  const std::string found = Findings(base + ".pbtxt");
  if (std::getenv("TENON_UPDATE_GOLDEN") != nullptr) std::ofstream(base + ".want") << found;
  EXPECT_EQ(found, ReadText(base + ".want"));
}

INSTANTIATE_TEST_SUITE_P(Golden, Lint, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param; });

// Each hint reads all names, and a file may have as many bad inputs as names.
TEST(Hints, StopAfterFifty) {
  std::string text = "library { function { signature { name: \"f\" } ";
  for (int i = 0; i < 60; ++i) {
    absl::StrAppend(&text, "node_def { name: \"n", i, "\" op: \"NoOp\" input: \"^nn", i, "\" } ");
  }
  text += "} }";
  const absl::StatusOr<Imported> imported = ImportBytes(text, "x.pbtxt");
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(imported->defects.size(), 60u);
  const auto hints = std::count_if(
      imported->defects.begin(), imported->defects.end(),
      [](const Defect& d) { return d.message.find("did you mean") != std::string::npos; });
  EXPECT_EQ(hints, 50);
}

// The binary form of a graph has the same defects; only their places differ.
TEST_P(Lint, BinaryHasTheSameDefects) {
  const std::string path = testing::Golden(absl::StrCat("lint/", GetParam(), ".pbtxt"));
  const absl::StatusOr<Imported> text = ImportFile(path);
  if (!text.ok()) return;
  const absl::StatusOr<Imported> binary = ImportBytes(ExportBinary(text->graph), path);
  ASSERT_TRUE(binary.ok()) << binary.status();
  // Holes cannot be exported, and inputs come out in order.
  if (GetParam() == "unknown_input" || GetParam() == "bad_port" ||
      GetParam() == "data_after_control")
    return;
  ASSERT_EQ(text->defects.size(), binary->defects.size());
  for (size_t i = 0; i < text->defects.size(); ++i) {
    EXPECT_EQ(text->defects[i].code, binary->defects[i].code);
    EXPECT_EQ(text->defects[i].node, binary->defects[i].node);
    EXPECT_THAT(binary->defects[i].where, ::testing::StartsWith(path));
  }
}

TEST(LoadGraph, SaysWhetherItIsWrongOrUnknown) {
  EXPECT_EQ(LoadGraph(testing::Golden("lint/valid.pbtxt")).status(), absl::OkStatus());
  EXPECT_EQ(LoadGraph(testing::Golden("lint/unknown_op.pbtxt")).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(LoadGraph(testing::Golden("lint/arity.pbtxt")).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(LoadGraph("no/such/file.pb").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(LoadGraph(testing::Golden("lint")).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Limits, AreKept) {
  const std::string path = testing::Golden("lint/valid.pbtxt");
  EXPECT_EQ(ImportFile(path, {.max_nodes = 1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ImportFile(path, {.max_depth = 3}).status().message(),
              ::testing::HasSubstr("messages are nested more than 3 deep (--max-depth)"));
  EXPECT_EQ(ImportFile(path, {.max_file_bytes = 100}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const absl::StatusOr<Imported> constants =
      ImportFile(testing::Golden("models/mlp/graph.pb.xz"), {.max_const_bytes = 64});
  ASSERT_TRUE(constants.ok());
  ASSERT_FALSE(constants->defects.empty());
  EXPECT_EQ(constants->defects[0].code, DefectCode::kLimit);
}

}  // namespace
}  // namespace tenon
