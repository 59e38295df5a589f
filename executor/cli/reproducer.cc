// What a failed pass was given, and how to run it again.
#include <unistd.h>

#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "executor/cli/invocation.h"
#include "executor/cli/watchers.h"
#include "graph/file_bytes.h"
#include "graph/io.h"
#include "graph/one_line.h"
#include "grappler_lite/pipeline.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

class Reproducer : public PipelineObserver {
 public:
  explicit Reproducer(const Options& options) : options_(options) {}

  bool wants_every_pass() const override { return false; }

  void AfterPass(const PassRun& run, const Graph&, const PassReport& row) override {
    // A pass that fails in one round will fail in the next.
    if (!row.failed || !told_.emplace(run.pass).second) return;
    std::error_code error;
    const fs::path folder =
        options_.dump_dir.empty() ? fs::temp_directory_path(error) : fs::path(options_.dump_dir);
    const std::string base = (folder / absl::StrCat("graph_run_", getpid(), "_",
                                                    absl::StrReplaceAll(run.pass, {{":", "_"}})))
                                 .string();
    absl::Status written = ExportFile(run.before, base + ".pb");
    if (written.ok()) {
      written =
          WriteFile(base + ".sh", absl::StrCat("#!/bin/sh\n# ", run.pass, " ", OneLine(row.reason),
                                               "\n", CommandLine(run, base + ".pb"), "\n"));
    }
    Warn(options_, written.ok() ? absl::StrCat("pass ", run.pass, " failed; ", base,
                                               ".sh runs it again on the graph that it was given")
                                : absl::StrCat("pass ", run.pass, " failed, and ", base,
                                               ".pb and .sh cannot be written"));
  }

 private:
  std::string CommandLine(const PassRun& run, const std::string& model) const {
    std::string line =
        absl::StrCat("graph_run opt ", ShellQuoted(model), " --passes=", ShellQuoted(run.pass));
    for (const std::string& fetch : run.fetches)
      absl::StrAppend(&line, " --output=", ShellQuoted(fetch));
    for (const std::string& plugin : options_.plugins)
      absl::StrAppend(&line, " --plugin=", ShellQuoted(plugin));
    for (const std::string& name : options_.disabled_rewrites)
      absl::StrAppend(&line, " --disable-rewrite=", ShellQuoted(name));
    if (options_.fast_math) line += " --fast-math";
    const Target target = options_.target.value_or(
        options_.command == Command::kOpt ? Target::kTensorFlow : Target::kTenon);
    absl::StrAppend(&line, " --target=", target == Target::kTenon ? "tenon" : "tensorflow");
    absl::StrAppend(&line, " --verify-each=",
                    options_.verify_each.empty() ? "structure" : options_.verify_each);
    return line;
  }

  const Options& options_;
  std::set<std::string, std::less<>> told_;
};

}  // namespace

std::unique_ptr<PipelineObserver> MakeReproducer(const Options& options) {
  return std::make_unique<Reproducer>(options);
}

}  // namespace tenon::cli
