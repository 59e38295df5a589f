// Writes what a failed pass was given, and how to run it again.
#include <unistd.h>

#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/plugin_environment.h"
#include "executor/cli/faults/reproducer.h"
#include "executor/cli/options/command_line.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/passes/watchers.h"
#include "graph/base/one_line.h"
#include "graph/io/io.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

class PassReproducer : public PipelineObserver {
 public:
  explicit PassReproducer(const CompileFlags& flags) : flags_(flags) {}
  ~PassReproducer() override { SetFaultReproducer(nullptr); }

  bool wants_every_pass() const override { return false; }

  // The pass of a plug-in may end the process, or never return.
  void BeforePass(const PassRun& run) override {
    if (!run.pass.starts_with("plugin:")) return;
    ready_ = ReproducerOf(run, "did not come back");
    SetFaultReproducer(&ready_);
  }

  void AfterPass(const PassRun& run, const Graph&, const PassReport& row) override {
    SetFaultReproducer(nullptr);
    // A pass that fails in one round fails in the next: one warning is enough.
    if (!row.failed || !told_.emplace(run.pass, run.function).second) return;
    const Reproducer reproducer = ReproducerOf(run, row.reason);
    ScriptPath script;
    if (WriteReproducer(reproducer, ExportBinary(run.before), script)) {
      Warn(flags_, absl::StrCat("pass ", run.pass, " failed; ", script.c_str(),
                                " runs it again on the graph that it was given"));
    } else {
      Warn(flags_, absl::StrCat("pass ", run.pass, " failed, and ", reproducer.base,
                                "_*.pb and .sh cannot be written"));
    }
  }

 private:
  Reproducer ReproducerOf(const PassRun& run, std::string_view reason) const {
    std::error_code error;
    const fs::path folder = fs::absolute(
        flags_.dump_dir.empty() ? fs::temp_directory_path(error) : fs::path(flags_.dump_dir),
        error);
    return {(folder / absl::StrCat("graph_run_", FileWord(run.pass))).string(),
            OneLine(absl::StrCat(run.pass, " ", reason)), CommandLine(run), LiteralsOfPlugins()};
  }

  // A command line that fails as long as the pass does.
  std::string CommandLine(const PassRun& run) const {
    std::string line =
        absl::StrCat(ProgramWord(), " opt ", kReproducedGraph, " --passes=", ShellQuoted(run.pass));
    for (const std::string& fetch : run.fetches)
      absl::StrAppend(&line, " --output=", ShellQuoted(fetch));
    CompileFlags flags = flags_;
    // The graph is a body as the plug-in saw it. Its ends have no kernels here, so it is only
    // optimized.
    const bool is_shown_body = !run.function.empty() && run.pass.starts_with("plugin:");
    flags.target = is_shown_body ? "tensorflow" : TargetOf(flags_).name();
    line += OptimizerArguments(flags) + TimeoutArgument(flags);
    absl::StrAppend(
        &line, " --config='fail_on_optimizer_errors: true min_graph_nodes: -1'",
        " --verify-each=", flags_.verify_each.empty() ? "structure" : flags_.verify_each);
    return line;
  }

  const CompileFlags& flags_;
  Reproducer ready_;
  // Passes, and the functions with the bodies that they worked on.
  std::set<std::pair<std::string, std::string>> told_;
};

}  // namespace

std::unique_ptr<PipelineObserver> MakeReproducer(const CompileFlags& flags) {
  return std::make_unique<PassReproducer>(flags);
}

}  // namespace tenon::cli
