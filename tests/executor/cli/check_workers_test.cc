#include "executor/cli/check/check_workers.h"

#include <sys/resource.h>

#include <fstream>

#include "gtest/gtest.h"

namespace tenon::cli {
namespace {

// The areas of memory of this process that a fork would share.
int SharedAreas() {
  std::ifstream maps("/proc/self/maps");
  int areas = 0;
  for (std::string line; std::getline(maps, line);) areas += line.find("/dev/zero") != line.npos;
  return areas;
}

TEST(CheckWorkers, LeaveNothingBehindWhereNoneCanStart) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int areas = SharedAreas();
  const rlimit none{0, before.rlim_max};  // no pipe can be opened
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status =
      RunInWorkers({"a.pbtxt"}, CheckKind::kAnswers, CompileFlags(), [](size_t) {}).status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(SharedAreas(), areas);
}

}  // namespace
}  // namespace tenon::cli
