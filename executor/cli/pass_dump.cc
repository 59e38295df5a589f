// Graphs between passes as files.
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "executor/cli/graph_dot.h"
#include "executor/cli/invocation.h"
#include "executor/cli/watchers.h"
#include "graph/io.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

class PassDump : public PipelineObserver {
 public:
  explicit PassDump(const Options& options) : options_(options), folder_(options.dump_dir) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) Fail(folder_, error.message());
  }

  void BeforePass(const PassRun& run) override {
    ++number_;
    Write(run, "before", run.before);
  }
  void AfterPass(const PassRun& run, const Graph& after, const PassReport&) override {
    Write(run, "after", after);
  }

 private:
  void Write(const PassRun& run, std::string_view when, const Graph& graph) {
    if (failed_) return;
    const fs::path base =
        folder_ /
        absl::StrFormat("%03d_%s_%s", number_, absl::StrReplaceAll(run.pass, {{":", "_"}}), when);
    const std::string text = base.string() + ".pbtxt";
    const absl::Status written = ExportFile(graph, text);
    if (!written.ok()) return Fail(text, std::string(written.message()));
    const std::string dot = base.string() + ".dot";
    std::ofstream out(dot);
    out << GraphDot(graph);
    if (!out.flush()) Fail(dot, "cannot be written");
  }

  // Once: what fails for one file fails for the next.
  void Fail(const fs::path& path, const std::string& why) {
    failed_ = true;
    Warn(options_, absl::StrCat("--dump-dir: ", path.string(), ": ", why));
  }

  const Options& options_;
  const fs::path folder_;
  int number_ = 0;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<PipelineObserver> MakePassDump(const Options& options) {
  return std::make_unique<PassDump>(options);
}

}  // namespace tenon::cli
