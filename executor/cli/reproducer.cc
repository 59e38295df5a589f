// What a failed pass was given, and how to run it again.
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "executor/cli/command_line.h"
#include "executor/cli/fault_reproducer.h"
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
  ~Reproducer() override { SetFaultReproducer(nullptr); }

  bool wants_every_pass() const override { return false; }

  // The pass of a plug-in may end the process, or never end.
  void BeforePass(const PassRun& run) override {
    if (!run.pass.starts_with("plugin:")) return;
    const std::string base = BaseOf(run);
    ready_ = {base + ".pb", base + ".sh", Script(run, "did not come back", base + ".pb")};
    SetFaultReproducer(&ready_);
  }

  void AfterPass(const PassRun& run, const Graph&, const PassReport& row) override {
    SetFaultReproducer(nullptr);
    // A pass that fails in one round will fail in the next.
    if (!row.failed || !told_.emplace(run.pass).second) return;
    const std::string base = BaseOf(run);
    absl::Status written = ExportFile(run.before, base + ".pb");
    if (written.ok()) {
      written = WriteFile(base + ".sh", Script(run, OneLine(row.reason), base + ".pb"));
      std::error_code error;
      fs::permissions(base + ".sh", fs::perms::owner_exec, fs::perm_options::add, error);
    }
    Warn(options_, written.ok() ? absl::StrCat("pass ", run.pass, " failed; ", base,
                                               ".sh runs it again on the graph that it was given")
                                : absl::StrCat("pass ", run.pass, " failed, and ", base,
                                               ".pb and .sh cannot be written"));
  }

 private:
  std::string BaseOf(const PassRun& run) const {
    std::error_code error;
    const fs::path folder = fs::absolute(
        options_.dump_dir.empty() ? fs::temp_directory_path(error) : fs::path(options_.dump_dir),
        error);
    return (folder / absl::StrCat("graph_run_", getpid(), "_", FileWord(run.pass))).string();
  }

  std::string Script(const PassRun& run, std::string_view reason, const std::string& model) {
    if (!environment_) environment_ = EnvironmentLines(options_);
    return absl::StrCat("#!/bin/sh\n# ", run.pass, " ", reason, "\n", *environment_,
                        CommandLine(run, model), "\n");
  }

  // Fails as long as the pass does.
  std::string CommandLine(const PassRun& run, const std::string& model) const {
    std::string line = absl::StrCat(ProgramWord(), " opt ", ShellQuoted(model),
                                    " --passes=", ShellQuoted(run.pass));
    for (const std::string& fetch : run.fetches)
      absl::StrAppend(&line, " --output=", ShellQuoted(fetch));
    absl::StrAppend(&line, OptimizerFlags(options_));
    if (!options_.target)
      line += options_.command == Command::kOpt ? " --target=tensorflow" : " --target=tenon";
    if (options_.timeout_s) absl::StrAppend(&line, " --timeout=", *options_.timeout_s);
    absl::StrAppend(
        &line, " --config='fail_on_optimizer_errors: true min_graph_nodes: -1'",
        " --verify-each=", options_.verify_each.empty() ? "structure" : options_.verify_each);
    return line;
  }

  const Options& options_;
  FaultReproducer ready_;
  std::optional<std::string> environment_;
  std::set<std::string, std::less<>> told_;
};

}  // namespace

std::unique_ptr<PipelineObserver> MakeReproducer(const Options& options) {
  return std::make_unique<Reproducer>(options);
}

}  // namespace tenon::cli
