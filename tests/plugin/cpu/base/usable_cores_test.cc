#include "plugin/cpu/base/usable_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace tenon {
namespace {

namespace fs = std::filesystem;

// A folder that stands for the root of a system.
class UsableCores : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  int Quota() const { return CoresOfQuota(root_.string()); }

  fs::path root_;
};

TEST_F(UsableCores, NoFilesAreNoQuota) { EXPECT_EQ(Quota(), 0); }

TEST_F(UsableCores, ReadsVersion2AndTheGroupsAbove) {
  Write("proc/self/cgroup", "0::/app.slice/web/worker\n");
  Write("proc/self/mountinfo",
        "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "31 25 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  EXPECT_EQ(Quota(), 0);
  Write("sys/fs/cgroup/app.slice/web/worker/cpu.max", "max 100000\n");
  EXPECT_EQ(Quota(), 0);
  Write("sys/fs/cgroup/app.slice/web/worker/cpu.max", "250000 100000\n");
  EXPECT_EQ(Quota(), 3);  // rounded up
  Write("sys/fs/cgroup/app.slice/cpu.max", "150000 100000\n");
  EXPECT_EQ(Quota(), 2);
  Write("sys/fs/cgroup/app.slice/web/cpu.max", "20000 100000\n");
  EXPECT_EQ(Quota(), 1);
  Write("sys/fs/cgroup/app.slice/web/cpu.max", "800000 100000\n");
  EXPECT_EQ(Quota(), 2);
}

TEST_F(UsableCores, ReadsVersion1) {
  Write("proc/self/cgroup", "4:memory:/m\n3:cpuset:/s\n1:cpu,cpuacct:/docker/abc\n0::/\n");
  Write("proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  const std::string folder = "sys/fs/cgroup/cpu,cpuacct/docker/abc/";
  Write(folder + "cpu.cfs_period_us", "100000\n");
  Write(folder + "cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(Quota(), 0);
  Write(folder + "cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(Quota(), 4);
}

TEST_F(UsableCores, FindsTheGroupThatAContainerSees) {
  // The container's own group is mounted where others have the whole hierarchy.
  Write("proc/self/cgroup", "0::/docker/abc/inner\n");
  Write("proc/self/mountinfo", "31 25 0:28 /docker/abc /cg rw - cgroup2 cgroup2 rw\n");
  Write("cg/cpu.max", "600000 100000\n");
  EXPECT_EQ(Quota(), 6);
  Write("cg/inner/cpu.max", "500000 100000\n");
  EXPECT_EQ(Quota(), 5);
  // A group that is not below the mount: its quota is the mount's.
  Write("proc/self/cgroup", "0::/other\n");
  EXPECT_EQ(Quota(), 6);
  // One whose name begins like the mount's is not below it either.
  Write("proc/self/cgroup", "0::/docker/abcd\n");
  Write("cgd/cpu.max", "100000 100000\n");
  EXPECT_EQ(Quota(), 6);
}

TEST_F(UsableCores, TakesNonsenseAsNoQuota) {
  Write("proc/self/cgroup", "\n:::\n0::/a\nx\n");
  Write("proc/self/mountinfo", "\n - \n1 2 3 - cgroup2 a b\n31 25 0:28 / /cg rw - cgroup2 c rw\n");
  for (const char* const text :
       {"", "max", "x y", "0 100000", "100000 0", "1 2 3", "inf inf", "1e9 1"}) {
    Write("cg/a/cpu.max", text);
    EXPECT_EQ(Quota(), 0) << text;
  }
  Write("cg/a/cpu.max", "9000000000000000000 1");
  EXPECT_EQ(Quota(), 0);
}

TEST(DefaultThreads, IsTheAffinityOfTheThread) {
  const std::vector<int> cores = CoresOfThread();
  ASSERT_FALSE(cores.empty());
  EXPECT_TRUE(std::ranges::is_sorted(cores));
  EXPECT_GE(DefaultThreads(), 1);
  EXPECT_LE(DefaultThreads(), static_cast<int>(cores.size()));
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cores.back(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(CoresOfThread(), std::vector<int>{cores.back()});
    EXPECT_EQ(DefaultThreads(), 1);
  }).join();
}

}  // namespace
}  // namespace tenon
