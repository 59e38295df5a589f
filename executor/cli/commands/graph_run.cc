#include "tenon/graph_run.h"
#include "executor/cli/faults/interrupt.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/fault_line.h"
#include "executor/cli/faults/guard.h"
#include "executor/cli/options/command_table.h"
#include "executor/cli/options/flags.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/plugins/host.h"
#include "graph/base/closest.h"
#include "graph/base/version.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/abi_watch.h"
#include "graph/saved_model/saved_model.h"

namespace tenon {
namespace cli {
namespace {

// Writes to stdout. A closed pipe is no error: its reader has read enough.
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

// A document with the keys that every document starts with, in this order.
Json NewDocument(std::string_view command) {
  Json doc = Json::Object();
  doc.Set("schema", "graph_run/1").Set("command", command).Set("version", Version());
  doc.Set("status", Json::OfStatus(absl::OkStatus()));
  return doc;
}

// Prints the document or the text, then the error, and returns the exit code.
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

// Adds what --abi-check=strict found, after every plug-in was shut down. An error of the command
// itself comes first.
absl::Status AddAbiCheck(Invocation& invocation, absl::Status status) {
  AbiWatch* const watch = AbiWatch::Active();
  if (watch == nullptr) return status;
  watch->ReportWhatIsLeft();
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

// Sets up what guards a command, runs the command, and looks what plug-ins have left. Handlers come
// before the command, as plug-ins are loaded by it.
absl::Status RunGuarded(const Command& command, Work& work, Invocation& invocation) {
  const CommonFlags& flags = work.flags();
  if (flags.quiet) setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);  // what plug-ins log
  InstallFaultHandlers(command.name, flags.json);
  HandleInterrupts();
  if (!command.watches_processes)  // a thread would be in the way of its forks
    StartWatchdog(flags.timeout_s.value_or(kDefaultCallbackTimeout), flags.timeout_s);
  if (flags.strict_abi) AbiWatch::SwitchOn();
  absl::Status status = WithinMemory([&] { return work.Run(invocation); });
  status = AddAbiCheck(invocation, status);
  if (const char* closed = ReopenOutput(); closed != nullptr && status.ok())
    status = ClosedByPlugin(closed, NamesOfPlugins());
  return status;
}

bool Has(const std::vector<std::string>& args, std::string_view flag) {
  return std::ranges::find(args, flag) != args.end();
}

// Prints the text of --help, or a document with it.
int PrintHelp(const std::string& text, Invocation& invocation) {
  if (!invocation.json()) return static_cast<int>(ExitOf(Print(text)));
  invocation.doc.Set("help", text);
  return Finish(invocation, absl::OkStatus());
}

int Execute(const Command& command, const std::vector<std::string>& given,
            AllocationCounter allocations) {
  Invocation invocation;
  absl::StatusOr<std::vector<std::string>> args = ExpandFlagFiles(given);
  // A command line that cannot be parsed gets its document too.
  invocation.output.json = Has(args.ok() ? *args : given, "--json");
  invocation.doc = NewDocument(command.name);
  if (!args.ok()) return Finish(invocation, args.status());
  invocation.style = Style::For(STDOUT_FILENO);
  invocation.allocations = allocations;
  const std::unique_ptr<Work> work = command.start();
  const absl::StatusOr<std::string> help = ParseArgs(command, *std::move(args), *work);
  if (!help.ok()) return Finish(invocation, help.status());
  if (!help->empty()) return PrintHelp(*help, invocation);
  invocation.output = work->flags();
  return Finish(invocation, RunGuarded(command, *work, invocation));
}

int PrintVersion(bool json) {
  if (!json) return static_cast<int>(ExitOf(Print(VersionText())));
  Invocation invocation;
  invocation.output.json = true;
  invocation.doc = NewDocument("version");
  AddVersions(invocation.doc);
  return Finish(invocation, absl::OkStatus());
}

void AppendName(std::string* out, const Command* command) { out->append(command->name); }

int UnknownCommand(const std::vector<std::string>& args, bool json) {
  std::string name = args[0];
  const std::vector<const Command*> family = CommandsOfFamily(name);
  if (!family.empty() && args.size() > 1 && !args[1].starts_with('-'))
    absl::StrAppend(&name, " ", args[1]);
  ClosestName closest(name);
  for (const Command* command : Commands()) closest.Offer(command->name);
  Invocation invocation;
  invocation.output.json = json;
  invocation.doc = NewDocument(name);
  return Finish(invocation,
                UsageError(absl::StrCat("'", name, "' is neither a command of graph_run nor a file",
                                        closest.Hint(), family.empty() ? "" : "; there are ",
                                        absl::StrJoin(family, ", ", AppendName),
                                        "; graph_run --help lists the commands")));
}

// `args` are what the user wants help on: nothing, a command, or a word that commands begin with.
int Help(const std::vector<std::string>& args, bool json) {
  Invocation invocation;
  invocation.output.json = json;
  invocation.doc = NewDocument("help");
  if (args.empty() || args[0].starts_with('-')) return PrintHelp(ProgramHelp(), invocation);
  size_t words;
  if (const Command* command = FindCommand(args, &words)) {
    std::vector<std::string> flags = {"--help"};
    if (json) flags.emplace_back("--json");
    return Execute(*command, flags, {});
  }
  const std::vector<const Command*> family = CommandsOfFamily(args[0]);
  if (family.empty() || args.size() > 1) return UnknownCommand(args, json);
  return PrintHelp(absl::StrCat(CommandLines(family), "\nEach has its own --help.\n"), invocation);
}

// A folder with the name of a command that does not exist is no model, unless it is a SavedModel.
bool LooksLikeFile(const std::string& word) {
  std::error_code error;
  if (IsSavedModel(word)) return true;
  if (word == "-" || word.find_first_of("/.") != std::string::npos) return true;
  return std::filesystem::exists(word, error) && !std::filesystem::is_directory(word, error);
}

// Only the flags of the chosen command are declared, so the command is found before any flag is
// parsed.
int Main(std::vector<std::string> args, AllocationCounter allocations) {
  const bool json = Has(args, "--json");
  if (args.empty()) {
    fputs(ProgramHelp().c_str(), stderr);
    return static_cast<int>(Exit::kUsage);
  }
  const std::string first = args.front();
  if (first == "--help" || first == "-h" || first == "help")
    return Help({args.begin() + 1, args.end()}, json);
  if (Has(args, "--version")) return PrintVersion(json);
  size_t words;
  if (const Command* command = FindCommand(args, &words)) {
    args.erase(args.begin(), args.begin() + static_cast<ptrdiff_t>(words));
    return Execute(*command, args, allocations);
  }
  const bool asks = Has(args, "--help") || Has(args, "-h");
  if (asks && !CommandsOfFamily(first).empty()) return Help({first}, json);
  const bool is_flag = first[0] == '-' && first != "-";
  if (!is_flag && !LooksLikeFile(first)) return UnknownCommand(args, json);
  return Execute(*FindCommand("run"), args, allocations);
}

}  // namespace

}  // namespace cli

void GraphRunEnds(const char* call) { cli::EndIfInPlugin(call); }

bool GraphRunKeepsSignal(int number, const struct sigaction* action, struct sigaction* old) {
  return cli::KeepSignal(number, action, old);
}

int GraphRunMain(int argc, char** argv, AllocationCounter allocations) {
  return cli::Main(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), allocations);
}

}  // namespace tenon
