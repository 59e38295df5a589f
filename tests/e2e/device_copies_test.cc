// Large copies between host and device: by way of the plug-in's host memory, at the same time as
// kernels, and without leaks. On the example device, whose clock counts what overlaps, and on
// OpenCL devices.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/e2e/opencl_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

using ::nlohmann::json;
using opencl_test::OnDevice;
using opencl_test::OpenCl;
using testing::Finished;
using testing::GraphRun;
using ::testing::HasSubstr;
using testing::ReadFile;
using testing::TempFile;
using testing::TempPath;

// Runs of bench that do not count: the first, and one to warm up.
constexpr int kUncounted = 2;
constexpr int kFloats = 262144;  // 1 MiB, which takes 1 ms at this pace
constexpr char kPace[] = "copy_gbps=1.048576;compute_us=1000";

// Independent branches: a feed, a Relu on the device, a fetch.
std::string Branches(int branches, const std::string& device) {
  std::string text;
  for (int i = 0; i < branches; ++i) {
    absl::StrAppend(&text, "node { name: 'x", i, "' op: 'Placeholder' ",
                    "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { ",
                    "shape { dim { size: ", kFloats, " } } } } }\n");
    absl::StrAppend(&text, "node { name: 'y", i, "' op: 'Relu' input: 'x", i, "' device: '", device,
                    "' attr { key: 'T' value { type: DT_FLOAT } } }\n");
  }
  return text;
}

std::vector<std::string> Bench(int branches, const std::string& device, int runs) {
  std::vector<std::string> args = {"bench",
                                   TempFile("branches.pbtxt", Branches(branches, device)),
                                   "--json",
                                   "--threads",
                                   "1",
                                   "--opt-level",
                                   "0",
                                   "--warmup",
                                   "1",
                                   "--runs",
                                   absl::StrCat(runs)};
  for (int i = 0; i < branches; ++i) {
    const std::string feed = absl::StrCat("x", i, "=", kFloats, "xf32=random(seed=1)");
    args.insert(args.end(), {"--input", feed, "--output", absl::StrCat("y", i)});
  }
  return args;
}

json OnApu(std::vector<std::string> args, const std::string& options) {
  const std::string plugin = testing::Built("lib/plugins/libapu.so");
  args.insert(args.end(), {"--plugin", absl::StrCat(plugin, ";", options)});
  const Finished bench = GraphRun(std::move(args));
  EXPECT_EQ(bench.exit, 0) << bench.out << bench.err;
  return bench.exit == 0 ? json::parse(bench.out) : json::object();
}

struct Work {
  double begin_ms, end_ms;
};

// What the device's clock has written, by kind; of "host_memory" the bytes stand for begin_ms.
std::map<std::string, std::vector<Work>> ReadLog(const std::string& path) {
  std::map<std::string, std::vector<Work>> log;
  std::istringstream lines(ReadFile(path));
  std::string line, kind;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    double begin = 0, end = 0;
    words >> kind >> begin >> end;
    log[kind].push_back({begin / 1e6, end / 1e6});
  }
  return log;
}

TEST(DeviceCopies, OverlapKernelsInOneRun) {
  constexpr int kBranches = 16;
  for (const char* staging : {"on", "off"}) {
    const std::string path = TempPath(absl::StrCat("clock_", staging));
    std::filesystem::remove(path);
    OnApu(Bench(kBranches, "/device:APU:0", 3),
          absl::StrCat(kPace, ";clock_log=", path, ";TENON_HOST_STAGING=", staging));
    const auto log = ReadLog(path);
    double begin = 1e300, end = 0, longest = 0;
    for (const char* kind : {"to_device", "kernel", "to_host"}) {
      ASSERT_TRUE(log.contains(kind)) << kind;
      const std::vector<Work>& all = log.at(kind);
      // The last of the runs, all of which do the same work.
      const size_t runs = log.at("kernel").size() / kBranches;
      ASSERT_GE(runs, 4);
      ASSERT_EQ(all.size() % runs, 0) << kind;
      double sum = 0;
      for (size_t i = all.size() / runs * (runs - 1); i < all.size(); ++i) {
        begin = std::min(begin, all[i].begin_ms);
        end = std::max(end, all[i].end_ms);
        sum += all[i].end_ms - all[i].begin_ms;
      }
      EXPECT_NEAR(sum, kBranches, 0.01) << kind;
      longest = std::max(longest, sum);
    }
    EXPECT_LE(end - begin, 1.2 * longest) << "staging " << staging;
  }
}

TEST(DeviceCopies, ManyRunsTakeNoMoreMemoryThanFew) {
  const json few = OnApu(Bench(2, "/device:APU:0", 200), "TENON_HOST_STAGING=on");
  const json many = OnApu(Bench(2, "/device:APU:0", 10000), "TENON_HOST_STAGING=on");
  const json& staging = many["host_staging"][0];
  EXPECT_GE(staging["staged"], 20000);
  EXPECT_EQ(staging["unstaged"], 0);
  EXPECT_EQ(staging["other_targets"], 0);
  EXPECT_LE(staging["pool_bytes"], 128 << 20);
  EXPECT_LE(staging["regions"], few["host_staging"][0]["regions"].get<int>() + 2);
  EXPECT_LT(many["peak_rss_mb"], few["peak_rss_mb"].get<double>() + 40);
}

TEST(DeviceCopies, ADeviceThatReachesOtherMemorySlowlyGetsStaging) {
  const json slow = OnApu(Bench(1, "/device:APU:0", 5), "copy_gbps=50;pageable_gbps=0.1");
  EXPECT_EQ(slow["host_staging"][0]["mode"], "on") << slow["host_staging"];
  EXPECT_EQ(slow["host_staging"][0]["staged"], 5 + kUncounted);
  const json even = OnApu(Bench(1, "/device:APU:0", 5), "copy_gbps=0.5");
  EXPECT_EQ(even["host_staging"][0]["mode"], "off") << even["host_staging"];
  EXPECT_THAT(even["host_staging"][0]["why"].get<std::string>(), HasSubstr("GB/s"));
}

TEST(DeviceCopies, ADeviceWithoutHostMemoryCopiesAsBefore) {
  const json bench = OnApu(Bench(1, "/device:APU:0", 5), "host_memory=0;TENON_HOST_STAGING=on");
  const json& staging = bench["host_staging"][0];
  EXPECT_EQ(staging["unstaged"], 5 + kUncounted) << staging;
  EXPECT_EQ(staging["regions"], 0) << staging;
  EXPECT_THAT(staging["why"].get<std::string>(), HasSubstr("host_memory_allocate gave no memory"));
}

// What the pool has serves, and other memory where it ends.
TEST(DeviceCopies, LittleHostMemoryServesAsFarAsItGoes) {
  const json bench =
      OnApu(Bench(8, "/device:APU:0", 5), "host_memory=5000000;TENON_HOST_STAGING=on");
  const json& staging = bench["host_staging"][0];
  EXPECT_GT(staging["staged"], 0) << staging;
  EXPECT_GT(staging["other_targets"], 0) << staging;
  EXPECT_LE(staging["pool_bytes"], 5000000) << staging;
}

class OpenClCopies : public OpenCl {};

TEST_F(OpenClCopies, GoByWayOfPinnedMemory) {
  std::vector<std::string> args = Bench(3, "/device:OPENCL:0", 300);
  const Finished bench = OnDevice(args, {{"TENON_HOST_STAGING", "on"}});
  ASSERT_EQ(bench.exit, 0) << bench.out << bench.err;
  const json doc = json::parse(bench.out);
  const json& staging = doc["host_staging"][0];
  EXPECT_EQ(staging["staged"], 3 * (300 + kUncounted)) << staging;
  EXPECT_EQ(staging["pool_targets"], 3 * (300 + kUncounted)) << staging;
  EXPECT_EQ(staging["other_targets"], 0) << staging;
}

TEST_F(OpenClCopies, AnswerTheSameInEachWay) {
  const std::string graph = TempFile("copies.pbtxt", Branches(2, "/device:OPENCL:0"));
  std::vector<std::string> results;
  for (const char* staging : {"on", "off", "auto"}) {
    const Finished run =
        OnDevice({"run", graph, "--input", absl::StrCat("x0=", kFloats, "xf32=random(seed=3)"),
                  "--input", absl::StrCat("x1=", kFloats, "xf32=random(seed=4)"), "--output", "y0",
                  "--output", "y1", "--session-runs", "3", "--json"},
                 {{"TENON_HOST_STAGING", staging}});
    ASSERT_EQ(run.exit, 0) << run.out << run.err;
    results.push_back(json::parse(run.out)["runs"].dump());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace tenon
