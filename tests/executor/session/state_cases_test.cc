// Every case of every self-checking graph in tests/golden/state, each in a session of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "executor/cli/check/check_case.h"
#include "executor/cli/check/check_run.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(testing::Golden("state"))) {
    const std::string path = entry.path();
    if (path.find(".pbtxt") != std::string::npos) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

class StateCases : public ::testing::TestWithParam<std::string> {};

TEST_P(StateCases, GiveTensorFlowsAnswers) {
  const absl::StatusOr<cli::CheckFile> file = cli::ReadCheckFile(GetParam(), ImportLimits());
  ASSERT_TRUE(file.ok()) << file.status();
  const auto host = cli::Host::Open(cli::CommonFlags());
  ASSERT_TRUE(host.ok()) << host.status();
  for (int opt_level : {0, 1}) {
    cli::CaseOptions options;
    options.session.opt_level = opt_level;
    options.session.threads = 1;
    for (const cli::CheckCase& c : file->cases) {
      const cli::CaseResult result = cli::RunCase(*file, c, **host, options);
      EXPECT_EQ(cli::CaseStatusName(result.status), "passed")
          << c.name << " at --opt-level " << opt_level << ": " << result.detail;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, StateCases, ::testing::ValuesIn(Files()), [](const auto& info) {
  const std::string name = std::filesystem::path(info.param).filename();
  return name.substr(0, name.find('.'));
});

}  // namespace
}  // namespace tenon
