// Command lines that repeat what a process did.
#include "executor/cli/options/command_line.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/cli/options/flags.h"
#include "executor/values/text.h"

namespace tenon::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(OptimizerArguments, NameLibrariesByTheirFullPaths) {
  CompileFlags flags;
  flags.plugins = {"docs/graph_run.md;priority=2", "none/libnone.so"};
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(OptimizerArguments(flags), " --plugin='" + here +
                                           "/docs/graph_run.md;priority=2' --plugin=" + here +
                                           "/none/libnone.so");
}

TEST(OptimizerArguments, HaveWhatPlacesNodesAndMakesClustersAsItWasGiven) {
  const std::string given =
      " --device=A:0 --place='a b=CPU' --place=c=d=A --no-fallback --soft-placement=off --spread"
      " --xla=all --xla-buckets=8,64 --xla-async --xla-errors=fail --allow-tf32";
  CompileFlags flags;
  const absl::Status status = SetFlags(given, [&](Declarer& d) { flags.DeclarePlacement(d); });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(OptimizerArguments(flags), given);
}

// Of the flags that place nodes and choose passes, those that are left out change no answer.
TEST(OptimizerArguments, HaveWithThoseOfPassesEachFlagThatIsDeclared) {
  const std::set<std::string_view> left_out = {"--threads", "--inter-op", "--xla-cache"};
  CompileFlags flags;
  const auto declare = [&flags](Declarer& d) {
    flags.DeclarePlacement(d);
    flags.DeclareLevel(d);
    flags.DeclarePasses(d);
    flags.DeclareRewriting(d);
  };
  const absl::Status given = SetFlags(
      "--device=A --place=b=A --no-fallback --soft-placement=off --spread --xla=all --xla-buckets=8"
      " --xla-async --xla-errors=fail --allow-tf32 --opt-level=2 --passes=remapping"
      " --config='remapping: OFF' --disable-pass=remapping --disable-rewrite=remapping.fold_mul"
      " --fast-math --target=tensorflow --precision=w8",
      declare);
  ASSERT_TRUE(given.ok()) << given;
  const std::string repeated = OptimizerArguments(flags) + PassArguments(flags) + " ";
  // The error lists what is declared.
  const std::string error(SetFlags("--none", declare).message());
  const std::vector<std::string> declared =
      absl::StrSplit(error.substr(error.rfind(": ") + 2), ", ");
  EXPECT_GT(declared.size(), 15u) << error;
  for (const std::string& flag : declared) {
    if (left_out.contains(flag)) continue;
    EXPECT_THAT(repeated, AnyOf(HasSubstr(absl::StrCat(" ", flag, "=")),
                                HasSubstr(absl::StrCat(" ", flag, " "))))
        << "give it a value above, and a line in command_line.cc";
  }
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
