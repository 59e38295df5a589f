// Text for people: tables that fit the terminal.
#include <gmock/gmock.h>

#include <algorithm>

#include "absl/strings/str_split.h"
#include "executor/cli/faults/fault_line.h"
#include "executor/cli/passes/pass_report.h"
#include "executor/values/json.h"
#include "executor/values/text.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon::cli {
namespace {

using ::testing::ElementsAre;

TEST(WrapText, PartsAtBlanksAndLongWords) {
  EXPECT_THAT(WrapText("short", 10), ElementsAre("short"));
  EXPECT_THAT(WrapText("one two three four", 9), ElementsAre("one two", "three", "four"));
  EXPECT_THAT(WrapText("a/very/long/name of it", 8), ElementsAre("a/very/l", "ong/name", "of it"));
  EXPECT_THAT(WrapText("", 4), ElementsAre(""));
  EXPECT_THAT(WrapText("  indented_word", 8), ElementsAre("  indent", "ed_word"));
  EXPECT_THAT(WrapText("\xc3\xa4\xc3\xa4\xc3\xa4", 2), ElementsAre("\xc3\xa4\xc3\xa4", "\xc3\xa4"));
}

TEST(Json, RefusesWhatIsTooDeep) {
  const std::string deepest = std::string(Json::kMaxDepth, '[') + std::string(Json::kMaxDepth, ']');
  EXPECT_TRUE(Json::Parse(deepest).ok());
  EXPECT_EQ(Json::Parse("[" + deepest + "]").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Json::Parse(std::string(1'000'000, '[')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(WrapText, ColoursEachLine) {
  const Style style(/*colour=*/true);
  EXPECT_THAT(WrapText(style.Bold("one two"), 4),
              ElementsAre(style.Bold("one"), style.Bold("two")));
}

Table Devices() {
  Table table({"op", ">count", "types"});
  table.Row({"MatMul", "12", "f32, f64, bf16, f16, i32, i64, c64, c128"});
  table.Row({"Relu", "3", "f32"});
  return table;
}

TEST(Table, FitsTheTerminal) {
  EXPECT_EQ(Devices().Text(Style()),
            "op      count  types\n"
            "MatMul     12  f32, f64, bf16, f16, i32, i64, c64, c128\n"
            "Relu        3  f32\n");
  EXPECT_EQ(Devices().Text(Style(false, 36)),
            "op      count  types\n"
            "MatMul     12  f32, f64, bf16, f16,\n"
            "               i32, i64, c64, c128\n"
            "Relu        3  f32\n");
}

// Where there is no room for anything, columns stay wide enough to be read.
TEST(Table, NoNarrowerThanOneCanRead) {
  EXPECT_EQ(Devices().Text(Style(false, 5)),
            "op      count  types\n"
            "MatMul     12  f32, f64,\n"
            "               bf16, f16,\n"
            "               i32, i64,\n"
            "               c64, c128\n"
            "Relu        3  f32\n");
}

TEST(Table, HasNoTextWithoutColumns) {
  Table table({});
  table.Row({"dropped"});
  EXPECT_EQ(table.Text(Style()), "");
  EXPECT_EQ(table.Text(Style(false, 36), "  "), "");
}

// A colour that begins in a line ends in it: else it would go on through the columns behind it.
TEST(PassTable, EndsColoursInEachLine) {
  PassReport pass;
  pass.name = "constant_folding";
  pass.function = "body_of_a_loop";
  PipelineReport report;
  report.passes.push_back(pass);
  for (const std::string_view line :
       absl::StrSplit(PassTable(report, Style(/*colour=*/true, /*width=*/40)), '\n')) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '\033') % 2, 0) << line;
  }
}

TEST(ShellWord, QuotesWhatAShellWouldSplitOrDrop) {
  EXPECT_EQ(ShellWord("model.pb"), "model.pb");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord("a\tb"), "'a\tb'");
  EXPECT_EQ(ShellWord("a\nb"), "'a\nb'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
}

std::string Written(FaultLine& line) {
  ::testing::internal::CaptureStderr();
  line.Write("INTERNAL");
  return ::testing::internal::GetCapturedStderr();
}

TEST(FaultLine, IsCutBetweenCharacters) {
  constexpr size_t kRoom = 2048;
  for (const std::string_view character : {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x99\x82"}) {
    for (size_t fits = 0; fits <= character.size(); ++fits) {
      FaultLine line;
      const std::string before(kRoom - fits, 'x');
      line.Add(before).Add(character).Add("more");
      const bool whole = fits == character.size();
      EXPECT_EQ(Written(line), absl::StrCat("graph_run: ", before, whole ? character : "", "\n"));
    }
  }
}

}  // namespace
}  // namespace tenon::cli
