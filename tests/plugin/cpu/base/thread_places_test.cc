#include "plugin/cpu/base/thread_places.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/cpu/base/usable_cores.h"
#include "plugin/cpu/base/workers.h"

namespace tenon::thread_places_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A machine in a folder.
class ThreadPlacesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ =
        fs::path(::testing::TempDir()) /
        absl::StrCat("places_", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const fs::path file = root_ / "sys/devices/system" / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  // Two nodes of four physical cores with two threads each, whose numbers are 8 apart.
  void MakeTwoNodes() {
    Write("node/node0/cpulist", "0-3,8-11");
    Write("node/node1/cpulist", "4-7,12-15");
    Write("node/possible", "0-1");
    for (int core = 0; core < 16; ++core)
      Write(absl::StrCat("cpu/cpu", core, "/topology/thread_siblings_list"),
            absl::StrCat(core % 8, ",", core % 8 + 8));
  }
  ThreadPlaces Places(int threads, Pin pin, Numa numa, std::vector<int> cores) const {
    return PlacesOfThreads(threads, pin, numa, cores, root_.string());
  }
  static std::vector<int> Range(int begin, int end) {
    std::vector<int> range;
    for (int i = begin; i < end; ++i) range.push_back(i);
    return range;
  }

  fs::path root_;
};

TEST_F(ThreadPlacesTest, PhysicalCoresComeFirstNodeAfterNode) {
  MakeTwoNodes();
  std::vector<int> order;
  for (const Core& core : DescribeCores(Range(0, 16), root_.string())) {
    order.push_back(core.number);
    EXPECT_EQ(core.node, core.number % 8 / 4);
    EXPECT_EQ(core.sibling, core.number / 8);
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

TEST_F(ThreadPlacesTest, TheLargerNodeComesFirstAndALonelySiblingIsAPhysicalCore) {
  MakeTwoNodes();
  const ThreadPlaces places = Places(4, Pin::kCores, Numa::kOff, {2, 5, 6, 12, 14});
  EXPECT_EQ(places.nodes, 2);
  EXPECT_THAT(places.cores,
              ElementsAre(ElementsAre(5), ElementsAre(6), ElementsAre(12), ElementsAre(2)));
}

TEST_F(ThreadPlacesTest, ThreadsStayOnTheCoresOfANode) {
  MakeTwoNodes();
  const ThreadPlaces few = Places(3, Pin::kOff, Numa::kAuto, Range(0, 16));
  for (const std::vector<int>& cores : few.cores)
    EXPECT_THAT(cores, ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  const ThreadPlaces more = Places(6, Pin::kOff, Numa::kAuto, Range(0, 16));
  EXPECT_THAT(more.cores[3], ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  EXPECT_THAT(more.cores[4], ElementsAre(4, 5, 6, 7, 12, 13, 14, 15));
}

TEST_F(ThreadPlacesTest, NothingIsBoundOnOneNodeOrWithoutAWish) {
  MakeTwoNodes();
  for (const auto& cores : Places(3, Pin::kOff, Numa::kOff, Range(0, 16)).cores)
    EXPECT_THAT(cores, IsEmpty());
  const ThreadPlaces one = Places(3, Pin::kOff, Numa::kAuto, {0, 1, 8});
  EXPECT_EQ(one.nodes, 1);
  for (const auto& cores : one.cores) EXPECT_THAT(cores, IsEmpty());
}

TEST_F(ThreadPlacesTest, ThreadsBeyondTheCoresAreFree) {
  const ThreadPlaces places = Places(3, Pin::kCores, Numa::kOff, {4, 7});
  EXPECT_EQ(places.nodes, 1);
  EXPECT_THAT(places.cores, ElementsAre(ElementsAre(4), ElementsAre(7), IsEmpty()));
}

TEST_F(ThreadPlacesTest, NonsenseCountsForNothing) {
  Write("node/node0/cpulist", "0-,x,3-1,-5,1-99999999999");
  Write("node/nodeX/cpulist", "0-3");
  Write("node/node7/cpulist", "1");
  Write("cpu/cpu1/topology/thread_siblings_list", "zzz");
  const ThreadPlaces places = Places(2, Pin::kCores, Numa::kOff, {0, 1});
  EXPECT_EQ(places.nodes, 2);
  EXPECT_THAT(places.cores, ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(Places(2, Pin::kCores, Numa::kAuto, {}).cores, ElementsAre(IsEmpty(), IsEmpty()));
}

// Each thread of the pool is on its core while it works, and the caller's mask comes back.
TEST(PinnedWorkers, StayOnTheirCores) {
  const std::vector<int> cores = CoresOfThread();
  if (cores.size() < 2) GTEST_SKIP() << "one core";
  const std::vector<int> before = CoresOfThread();
  Workers workers(2, {{cores[0]}, {cores[1]}});
  std::vector<std::vector<int>> seen(2);
  std::atomic<int> there{0};
  {
    const Workers::CallerPlace place(workers);
    EXPECT_THAT(CoresOfThread(), ElementsAre(cores[0]));
    {
      // The place is taken: another caller keeps its mask.
      std::thread([&] {
        const Workers::CallerPlace other(workers);
        EXPECT_EQ(CoresOfThread(), std::vector<int>{cores[0]}) << "what it got from its parent";
      }).join();
    }
    workers.ParallelFor(2, 1, [&](int64_t begin, int64_t) {
      seen[begin] = CoresOfThread();
      ++there;
      while (there.load() < 2) std::this_thread::yield();  // both threads take part
    });
  }
  EXPECT_EQ(CoresOfThread(), before);
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre(ElementsAre(cores[0]), ElementsAre(cores[1])));
  { const Workers::CallerPlace again(workers); }
  EXPECT_EQ(CoresOfThread(), before);
}

}  // namespace
}  // namespace tenon::thread_places_test
