#include "graph/base/one_line.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(OneLine, PutsBlanksForLineFeeds) {
  EXPECT_EQ(OneLine("\na\n\tb \r\nc\n"), "a b c");
  EXPECT_EQ(OneLine(""), "");
}

TEST(OneLine, EscapesWhatMovesACursor) {
  EXPECT_EQ(OneLine(std::string_view("a\x1b[2J\0\x7f", 7)), "a\\x1b[2J\\x00\\x7f");
  EXPECT_EQ(OneLine("\xc2\x9b"
                    "31m \xc3\xa4 \xc2\xb5"),
            "\\xc2\\x9b31m \xc3\xa4 \xc2\xb5");
}

}  // namespace
}  // namespace tenon
