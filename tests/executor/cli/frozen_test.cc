// What commands say of models that they freeze, and with which exit code.
#include "executor/cli/model/frozen.h"

#include <gmock/gmock.h>

#include "executor/cli/faults/exit_code.h"
#include "executor/cli/model/workbench.h"

namespace tenon::cli {
namespace {

TEST(NeedsText, NamesTheStateAndWhatFillsIt) {
  FrozenModel frozen;
  frozen.kept = {"v"};
  frozen.init = "fill it";
  EXPECT_THAT(NeedsText(frozen),
              ::testing::HasSubstr("it keeps state (v), which node 'fill it' fills: graph_run runs"));
  frozen.init.clear();
  EXPECT_EQ(NeedsText(frozen), "");
}

TEST(FaultOfFreezing, IsOfTheFilesUnlessTheModelKeepsState) {
  EXPECT_EQ(ExitOf(FaultOfFreezing(absl::DataLossError("variables"))), Exit::kInvalidInput);
  EXPECT_EQ(ExitOf(FaultOfFreezing(absl::FailedPreconditionError("written"))), Exit::kRunFailed);
  EXPECT_EQ(ExitOf(FaultOfFreezing(absl::UnimplementedError("op"))), Exit::kRunFailed);
}

TEST(AllowedFiles, AreNoneOfAFolderThatIsGone) {
  SavedModel gone;
  gone.folder = "/nonexistent/model";
  gone.meta_graphs.resize(1);
  CompileFlags flags;
  EXPECT_EQ(ExitOf(AllowedFiles(flags, gone).status()), Exit::kInvalidInput);
  EXPECT_TRUE(AllowedFiles(flags, std::nullopt).ok());
  flags.allow_file_io = true;
  EXPECT_TRUE(AllowedFiles(flags, gone).ok());
}

}  // namespace
}  // namespace tenon::cli
