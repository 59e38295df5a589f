// --device-streams: branches on several compute streams of the example device, whose clock counts
// what overlaps.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::device_streams_test {
namespace {

using ::nlohmann::json;
using testing::Finished;
using testing::GraphRun;
using ::testing::HasSubstr;
using testing::ReadFile;
using testing::TempFile;
using testing::TempPath;

constexpr int kLength = 8;  // kernels of a branch
constexpr char kInput[] = "x=4xf32=random(seed=1)";

std::string Relu(const std::string& name, const std::string& input) {
  return absl::StrCat("node { name: '", name, "' op: 'Relu' input: '", input,
                      "' attr { key: 'T' value { type: DT_FLOAT } } }\n");
}

// One Relu, then branches of kLength Relus, each of which is fetched.
std::string Branches(const std::string& file, int branches) {
  std::string text =
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'shape' value { shape { dim { size: 4 } } } } }\n" +
      Relu("r", "x");
  for (int b = 0; b < branches; ++b) {
    for (int i = 0; i < kLength; ++i) {
      const std::string input = i == 0 ? "r" : absl::StrCat("b", b, "_", i - 1);
      text += Relu(absl::StrCat("b", b, "_", i), input);
    }
  }
  return TempFile(file, text);
}

std::string Apu(const std::string& options = "") {
  const std::string plugin = testing::Built("lib/plugins/libapu.so");
  return options.empty() ? plugin : absl::StrCat(plugin, ";", options);
}

Finished OnApu(std::vector<std::string> args, const std::string& options = "") {
  args.insert(args.end(),
              {"--input", kInput, "--threads", "1", "--opt-level", "0", "--plugin", Apu(options)});
  return GraphRun(std::move(args));
}

// The milliseconds from the first kernel's begin to the last kernel's end in the last of the runs.
double KernelMs(const std::string& model, int branches, int streams) {
  const std::string log = TempPath(absl::StrCat("streams_clock_", branches, "_", streams));
  std::filesystem::remove(log);
  const Finished bench = OnApu(
      {"bench", model, "--warmup", "1", "--runs", "3", "--device-streams", absl::StrCat(streams)},
      absl::StrCat("compute_us=1000;clock_log=", log));
  EXPECT_EQ(bench.exit, 0) << bench.out << bench.err;
  std::vector<std::pair<double, double>> kernels;
  std::istringstream lines(ReadFile(log));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    double begin = 0, end = 0;
    words >> kind >> begin >> end;
    if (kind == "kernel") kernels.emplace_back(begin / 1e6, end / 1e6);
  }
  const size_t of_run = 1 + static_cast<size_t>(branches) * kLength;
  EXPECT_EQ(kernels.size() % of_run, 0u);
  EXPECT_GE(kernels.size(), 4 * of_run);
  if (kernels.size() < of_run) return 0;
  std::sort(kernels.begin(), kernels.end());
  double last = 0;
  for (size_t i = kernels.size() - of_run; i < kernels.size(); ++i)
    last = std::max(last, kernels[i].second);
  return last - kernels[kernels.size() - of_run].first;
}

TEST(DeviceStreams, BranchesTakeTheTimeOfOne) {
  const std::string two = Branches("two.pbtxt", 2), three = Branches("three.pbtxt", 3);
  EXPECT_NEAR(KernelMs(two, 2, 1), 1 + 2 * kLength, 0.1);
  EXPECT_NEAR(KernelMs(two, 2, 2), 1 + kLength, 0.1);
  EXPECT_NEAR(KernelMs(three, 3, 2), 1 + 2 * kLength, 0.1);
  EXPECT_NEAR(KernelMs(three, 3, 3), 1 + kLength, 0.1);
}

TEST(DeviceStreams, ReportsShowThem) {
  const std::string model = Branches("shown.pbtxt", 2);
  const Finished explained = OnApu({"explain", model, "--schedule", "--device-streams", "2"});
  EXPECT_EQ(explained.exit, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("/device:APU:0 compute 1"));
  const Finished run = OnApu({"run", model, "--verbose", "--device-streams", "2"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("compute 1 behind compute"));
  const std::string trace = TempPath("streams.json");
  EXPECT_EQ(OnApu({"run", model, "--trace", trace, "--device-streams", "2"}).exit, 0);
  EXPECT_THAT(ReadFile(trace), HasSubstr("compute 1"));
}

TEST(DeviceStreams, AnswersAreThoseOfOne) {
  const std::string model = Branches("answers.pbtxt", 3);
  std::vector<std::string> answers;
  for (const char* streams : {"1", "3", "16"}) {
    const Finished run = OnApu({"run", model, "--json", "--device-streams", streams});
    ASSERT_EQ(run.exit, 0) << run.err;
    answers.push_back(json::parse(run.out)["fetches"].dump());
  }
  EXPECT_EQ(answers[1], answers[0]);
  EXPECT_EQ(answers[2], answers[0]);
}

TEST(DeviceStreams, StrictModeFindsNothing) {
  const Finished run = OnApu({"run", Branches("strict.pbtxt", 3), "--device-streams", "3",
                              "--abi-check", "strict", "--session-runs", "3"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

TEST(DeviceStreams, BadNumbersAreUsageErrors) {
  const std::string model = Branches("bad.pbtxt", 2);
  for (const char* streams : {"0", "17", "-1", "two"}) {
    const Finished run = OnApu({"run", model, absl::StrCat("--device-streams=", streams)});
    EXPECT_EQ(run.exit, 2) << streams;
    EXPECT_THAT(run.err, HasSubstr("--device-streams")) << streams;
  }
  const Finished explained =
      GraphRun({"explain", model, "--device-streams", "2", "--plugin", Apu()});
  EXPECT_EQ(explained.exit, 2);
  EXPECT_THAT(explained.err, HasSubstr("--device-streams needs --schedule"));
}

}  // namespace
}  // namespace tenon::device_streams_test
