// Writes graphs between passes to files.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/graphs/graph_dot.h"
#include "executor/cli/graphs/large_constants.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/passes/watchers.h"
#include "graph/base/annotate.h"
#include "graph/base/file_writer.h"
#include "graph/io/io.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

class PassDump : public PipelineObserver {
 public:
  PassDump(const WatchFlags& flags, absl::Status& status)
      : folder_(flags.dump_dir), status_(status) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error)
      Fail(absl::Status(absl::ErrnoToStatusCode(error.value()),
                        absl::StrCat(folder_.string(), ": ", error.message())));
  }

  // Passes that change nothing are counted too, so that the numbers show how many ran in between.
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override {
    ++number_;
    if (!row.changed) return;
    Write(run, "before", run.before);
    Write(run, "after", after);
  }

 private:
  void Write(const PassRun& run, std::string_view when, const Graph& graph) {
    if (!status_.ok()) return;
    const fs::path base =
        folder_ / absl::StrFormat("%03d_%s_%s", number_, FileWord(run.pass), when);
    absl::Status written = ExportFile(WithoutLargeConstants(graph), base.string() + ".pbtxt");
    if (written.ok()) written = WriteFile(base.string() + ".dot", GraphDot(graph));
    if (!written.ok()) Fail(written);
  }

  // Stops the writing: what fails for one file fails for the next.
  void Fail(const absl::Status& why) { status_ = Annotate(why, "--dump-dir: "); }

  const fs::path folder_;
  absl::Status& status_;
  int number_ = 0;
};

}  // namespace

std::unique_ptr<PipelineObserver> MakePassDump(const WatchFlags& flags, absl::Status& status) {
  return std::make_unique<PassDump>(flags, status);
}

}  // namespace tenon::cli
