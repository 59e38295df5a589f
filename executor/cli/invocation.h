// What a sub-command works with: its options, and where its answer goes.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "executor/cli/json.h"
#include "executor/cli/options.h"
#include "executor/cli/text.h"
#include "tenon/graph_run.h"

namespace tenon::cli {

// Sub-commands fill in `doc` and `text`; the main function prints the one that was asked for. One
// per process.
struct Invocation {
  Options options;
  Json doc = Json::Object();  // with --json
  std::string text;           // without
  Style style;                // of `text`
  AllocationCounter allocations = nullptr;

  bool json() const { return options.json; }
};

// A line on stderr, not with --quiet.
void Warn(const Options& options, std::string_view message);
// A line on stderr: an error or a defect, as it is.
void PrintErrorLine(std::string_view message);

// The sub-commands. Each fills doc and text as far as it gets, also when it fails.
absl::Status RunCommand(Invocation& invocation);
absl::Status BenchCommand(Invocation& invocation);
absl::Status ShowCommand(Invocation& invocation);
absl::Status LintCommand(Invocation& invocation);
absl::Status OptCommand(Invocation& invocation);
absl::Status ExplainCommand(Invocation& invocation);
absl::Status DiffCommand(Invocation& invocation);
absl::Status BisectCommand(Invocation& invocation);
absl::Status ReduceCommand(Invocation& invocation);
absl::Status FreezeCommand(Invocation& invocation);
absl::Status DevicesCommand(Invocation& invocation);
absl::Status CheckCommand(Invocation& invocation);
absl::Status PluginCheckCommand(Invocation& invocation);
absl::Status PluginNewCommand(Invocation& invocation);

}  // namespace tenon::cli
