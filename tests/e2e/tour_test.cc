// docs/tour.md: each line that it shows works.
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/process_util.h"

namespace tenon::tour_test {
namespace {

using testing::Finished;
using testing::GraphRun;
using testing::ReadFile;
using testing::TempPath;

// The words of a line for a shell, with files in the test's folder in the place of /tmp.
std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  for (const char c : line + " ") {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  for (std::string& w : words) {
    const size_t at = w.find("/tmp/");
    if (at != w.npos) w.replace(at, 5, TempPath("tour_"));
  }
  return words;
}

TEST(Tour, EachLineWorks) {
  std::filesystem::remove_all(TempPath("tour_affine_fast"));
  std::istringstream page(ReadFile("docs/tour.md"));
  const std::string begin = "    graph_run ";
  int lines = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with(begin)) continue;
    const Finished run = GraphRun(WordsOf(line.substr(begin.size())));
    EXPECT_EQ(run.exit, 0) << line << "\n" << run.err;
    EXPECT_FALSE(run.out.empty()) << line;
    ++lines;
  }
  EXPECT_GE(lines, 15);
  EXPECT_TRUE(std::filesystem::exists(TempPath("tour_affine.html")));
}

}  // namespace
}  // namespace tenon::tour_test
