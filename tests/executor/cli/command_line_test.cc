// Command lines that repeat what a process did.
#include "executor/cli/options/command_line.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "executor/values/text.h"

namespace tenon::cli {
namespace {

TEST(OptimizerArguments, NameLibrariesByTheirFullPaths) {
  CompileFlags flags;
  flags.plugins = {"docs/graph_run.md;priority=2", "none/libnone.so"};
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(OptimizerArguments(flags), " --plugin='" + here +
                                           "/docs/graph_run.md;priority=2' --plugin=" + here +
                                           "/none/libnone.so");
}

TEST(OptimizerArguments, HaveAllThatPlacesNodesAndMakesClusters) {
  CompileFlags flags;
  flags.device = "A:0";
  flags.soft_placement = false;
  flags.spread = true;
  flags.clusters.mode = XlaMode::kAll;
  flags.xla_buckets = "8,64";
  flags.xla_async = true;
  flags.clusters.errors = XlaErrors::kFail;
  EXPECT_EQ(OptimizerArguments(flags),
            " --device=A:0 --soft-placement=off --spread --xla=all --xla-buckets=8,64 --xla-async"
            " --xla-errors=fail");
}

TEST(OptimizerArguments, LeaveLibrariesToTheLoaderThatItSearchesFor) {
  CompileFlags flags;
  flags.plugins = {"libnone.so"};
  EXPECT_EQ(OptimizerArguments(flags), " --plugin=libnone.so");
}

TEST(JudgeArguments, HaveAllDigits) {
  ToleranceFlags flags;
  flags.rtol = 1.23456789012345e-3;
  flags.atol = 1e-5;
  flags.max_ulp = 3;
  EXPECT_EQ(JudgeArguments(flags), " --rtol=0.00123456789012345 --atol=1e-05 --max-ulp=3");
}

TEST(TimeoutArgument, HasAllDigits) {
  CommonFlags flags;
  EXPECT_EQ(TimeoutArgument(flags), "");
  flags.timeout_s = 1234567.25;
  EXPECT_EQ(TimeoutArgument(flags), " --timeout=1234567.25");
}

TEST(ShortestText, ReadsBackAsTheSame) {
  for (const double value : {0.1, 1.0 / 3, 1e300, 1234567.25, -0.0})
    EXPECT_EQ(std::stod(ShortestText(value)), value);
  EXPECT_EQ(ShortestText(0.1f), "0.1");
  EXPECT_EQ(ShortestText(-std::numeric_limits<double>::infinity()), "-inf");
}

}  // namespace
}  // namespace tenon::cli
