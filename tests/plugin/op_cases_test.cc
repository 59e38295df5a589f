// Every case of every self-checking op graph in tests/golden/ops. A missing kernel is reported, a
// wrong answer fails. TENON_OP_CASES names another folder or a file, to look at one op.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/plugin/op_cases_util.h"
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
  int passed = 0, unimplemented = 0;
  std::string missing;
  for (const CaseResult& result : RunOpCases(GetParam())) {
    switch (result.verdict) {
      case CaseResult::Verdict::kPassed:
        ++passed;
        break;
      case CaseResult::Verdict::kUnimplemented:
        ++unimplemented;
        missing = result.name + ": " + result.why;
        break;
      case CaseResult::Verdict::kFailed:
        ADD_FAILURE() << OpOf(GetParam()) << " " << result.name << ": " << result.why;
    }
  }
  if (unimplemented > 0) {
    std::printf("%s: %d passed, %d unimplemented, such as %s\n", OpOf(GetParam()).c_str(), passed,
                unimplemented, missing.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpCases, ::testing::ValuesIn(CaseFiles()),
                         [](const auto& info) { return OpOf(info.param); });

}  // namespace
}  // namespace tenon::testing
