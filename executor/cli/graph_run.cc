#include "tenon/graph_run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "executor/cli/command_table.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/fault_line.h"
#include "executor/cli/flags.h"
#include "executor/cli/guard.h"
#include "executor/cli/host.h"
#include "executor/cli/invocation.h"
#include "graph/c_api/abi_watch.h"
#include "graph/closest.h"
#include "graph/one_line.h"
#include "graph/saved_model.h"
#include "graph/version.h"
#include "graph/within_memory.h"

namespace tenon {
namespace cli {
namespace {

// Writes to stdout. Whoever closed the pipe has read enough: not an error.
absl::Status Print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(OutputFd(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) break;
    if (written < 0)
      return absl::UnknownError(absl::StrCat("writing to stdout failed: ", strerror(errno)));
    text.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// The keys that every document starts with, in this order.
Json NewDocument(std::string_view command) {
  Json doc = Json::Object();
  doc.Set("schema", "graph_run/1").Set("command", command).Set("version", Version());
  doc.Set("status", Json::OfStatus(absl::OkStatus()));
  return doc;
}

// Prints what there is to print and gives the exit code.
int Finish(Invocation& invocation, absl::Status status) {
  if (invocation.json()) invocation.doc.Set("status", Json::OfStatus(status));
  DocumentWritten();
  const absl::Status printed =
      Print(invocation.json() ? invocation.doc.Dump() + "\n" : invocation.text);
  if (status.ok()) status = printed;
  if (!status.ok() && !WasPrinted(status)) PrintErrorLine(status.message());
  const int code = static_cast<int>(ExitOf(status));
  WorkIsDone(code);
  return code;
}

absl::Status Dispatch(Invocation& invocation) {
  switch (invocation.options.command) {
    case Command::kRun:
      return RunCommand(invocation);
    case Command::kBench:
      return BenchCommand(invocation);
    case Command::kShow:
      return ShowCommand(invocation);
    case Command::kLint:
      return LintCommand(invocation);
    case Command::kOpt:
      return OptCommand(invocation);
    case Command::kExplain:
      return ExplainCommand(invocation);
    case Command::kDiff:
      return DiffCommand(invocation);
    case Command::kBisect:
      return BisectCommand(invocation);
    case Command::kReduce:
      return ReduceCommand(invocation);
    case Command::kFreeze:
      return FreezeCommand(invocation);
    case Command::kDevices:
      return DevicesCommand(invocation);
    case Command::kCheck:
      return CheckCommand(invocation);
    case Command::kPluginCheck:
      return PluginCheckCommand(invocation);
    case Command::kPluginNew:
      return PluginNewCommand(invocation);
  }
  return absl::InternalError("unknown command");
}

// What --abi-check=strict found, now that every plug-in is shut down. The command's own error goes
// before it.
absl::Status AddAbiCheck(Invocation& invocation, absl::Status status) {
  AbiWatch* const watch = AbiWatch::Active();
  if (watch == nullptr) return status;
  watch->ReportLeaks();
  const std::vector<AbiViolation> violations = watch->violations();
  Json list = Json::Array();
  for (const AbiViolation& violation : violations) {
    Json json = Json::Object();
    json.Set("rule", violation.rule)
        .Set("plugin", violation.plugin)
        .Set("callback", violation.callback)
        .Set("node", violation.node)
        .Set("detail", violation.detail);
    list.Push(std::move(json));
  }
  Json check = Json::Object();
  check.Set("violations", std::move(list));
  invocation.doc.Set("abi_check", std::move(check));
  if (violations.empty() || !status.ok()) return status;
  return WithExit(
      Exit::kPluginFault,
      absl::FailedPreconditionError(absl::StrCat(
          "--abi-check=strict: ", Plural(static_cast<int64_t>(violations.size()), "violation"),
          " of the interface, written above")));
}

int Execute(Command command, std::vector<std::string> args, AllocationCounter allocations) {
  Invocation invocation;
  // Also a command line that does not parse gets its document.
  invocation.options.json = std::find(args.begin(), args.end(), "--json") != args.end();
  invocation.doc = NewDocument(NameOf(command));
  invocation.style = Style::For(STDOUT_FILENO);
  invocation.allocations = allocations;
  absl::StatusOr<ParsedArgs> parsed = ParseArgs(command, std::move(args));
  if (!parsed.ok()) return Finish(invocation, parsed.status());
  if (!parsed->help.empty()) return static_cast<int>(ExitOf(Print(parsed->help)));
  invocation.options = std::move(parsed->options);
  if (invocation.options.quiet) setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);  // what plug-ins log
  InstallFaultHandlers(NameOf(command), invocation.json());
  // Both watch over their child processes instead, which a thread would be in the way of.
  if (command != Command::kCheck && command != Command::kPluginCheck) {
    const std::optional<double> timeout = invocation.options.timeout_s;
    StartWatchdog(timeout.value_or(kDefaultCallbackTimeout), timeout);
  }
  if (invocation.options.strict_abi) AbiWatch::SwitchOn();
  absl::Status status = WithinMemory([&] { return Dispatch(invocation); });
  status = AddAbiCheck(invocation, status);
  if (const char* closed = ReopenOutput(); closed != nullptr && status.ok())
    status = ClosedByPlugin(closed, NamesOfPlugins());
  return Finish(invocation, status);
}

int PrintVersion(bool json) {
  if (!json) return static_cast<int>(ExitOf(Print(VersionText())));
  Invocation invocation;
  invocation.options.json = true;
  invocation.doc = NewDocument("version");
  AddVersions(invocation.doc);
  return Finish(invocation, absl::OkStatus());
}

int UnknownCommand(std::string_view name, bool json) {
  ClosestName closest(name);
  for (const CommandInfo& info : Commands()) closest.Offer(info.name);
  Invocation invocation;
  invocation.options.json = json;
  invocation.doc = NewDocument(name);
  return Finish(invocation,
                UsageError(absl::StrCat("'", name, "' is neither a command of graph_run nor a file",
                                        closest.Hint(), "; graph_run --help lists the commands")));
}

// A folder named like a command that does not exist is no model, unless it is a SavedModel.
bool LooksLikeFile(const std::string& word) {
  std::error_code error;
  if (IsSavedModel(word)) return true;
  if (word == "-" || word.find_first_of("/.") != std::string::npos) return true;
  return std::filesystem::exists(word, error) && !std::filesystem::is_directory(word, error);
}

int Main(std::vector<std::string> args, AllocationCounter allocations) {
  const bool json = std::find(args.begin(), args.end(), "--json") != args.end();
  if (args.empty()) {
    fputs(ProgramHelp().c_str(), stderr);
    return static_cast<int>(Exit::kUsage);
  }
  const std::string first = args.front();
  if (first == "--help" || first == "-h" || first == "help")
    return static_cast<int>(ExitOf(Print(ProgramHelp())));
  if (std::find(args.begin(), args.end(), "--version") != args.end()) return PrintVersion(json);
  size_t words;
  if (const CommandInfo* info = FindCommand(args, &words)) {
    args.erase(args.begin(), args.begin() + static_cast<ptrdiff_t>(words));
    return Execute(info->command, std::move(args), allocations);
  }
  if (first[0] == '-' && first != "-") return Execute(Command::kRun, std::move(args), allocations);
  if (!LooksLikeFile(first)) return UnknownCommand(first, json);
  return Execute(Command::kRun, std::move(args), allocations);
}

}  // namespace

void Warn(const Options& options, std::string_view message) {
  if (!options.quiet) PrintErrorLine(absl::StrCat("warning: ", message));
}

void PrintErrorLine(std::string_view message) {
  const std::string line = OneLine(message) + "\n";
  fflush(stdout);
  fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace cli

void GraphRunEnds(const char* call) { cli::EndIfInPlugin(call); }

bool GraphRunKeepsSignal(int number, const struct sigaction* action, struct sigaction* old) {
  return cli::KeepSignal(number, action, old);
}

int GraphRunMain(int argc, char** argv, AllocationCounter allocations) {
  return cli::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), allocations);
}

}  // namespace tenon
