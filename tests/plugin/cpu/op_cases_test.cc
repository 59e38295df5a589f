// Every case of every self-checking op graph in tests/golden/ops. TENON_OP_CASES names another
// folder or a file, to look at one op.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/plugin/cpu/op_cases_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

std::vector<std::string> CaseFiles() {
  const char* place = std::getenv("TENON_OP_CASES");
  const std::string root = place != nullptr ? place : Golden("ops");
  if (std::filesystem::is_regular_file(root)) return {root};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    const std::string name = entry.path().filename();
    if (name.find(".pbtxt") != std::string::npos) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string OpOf(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  return name.substr(0, name.find('.'));
}

class OpCases : public ::testing::TestWithParam<std::string> {};

TEST_P(OpCases, GiveTensorFlowsAnswers) {
  const std::vector<CaseResult> results = RunOpCases(GetParam());
  EXPECT_FALSE(results.empty()) << GetParam() << " has no case";
  for (const CaseResult& result : results) {
    EXPECT_EQ(result.wrong, "") << OpOf(GetParam()) << " " << result.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpCases, ::testing::ValuesIn(CaseFiles()),
                         [](const auto& info) { return OpOf(info.param); });

}  // namespace
}  // namespace tenon::testing
