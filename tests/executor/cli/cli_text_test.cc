// Text for people: tables that fit the terminal.
#include <gmock/gmock.h>

#include "executor/values/text.h"

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

}  // namespace
}  // namespace tenon::cli
