#include "executor/cli/options/command_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/base/version.h"
#include "graph/wire/versions.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon::cli {

// Each is defined at the end of its own source.
extern const Command kRunCommand, kBenchCommand, kShowCommand, kLintCommand, kOptCommand,
    kExplainCommand, kDiffCommand, kBisectCommand, kReduceCommand, kFreezeCommand, kGradCommand,
    kDevicesCommand, kCheckCommand, kPluginCheckCommand, kPluginNewCommand;

const std::vector<const Command*>& Commands() {
  static const auto& table = *new std::vector<const Command*>{
      &kRunCommand,    &kBenchCommand,       &kShowCommand,     &kLintCommand,
      &kOptCommand,    &kExplainCommand,     &kDiffCommand,     &kBisectCommand,
      &kReduceCommand, &kFreezeCommand,      &kGradCommand,     &kDevicesCommand,
      &kCheckCommand,  &kPluginCheckCommand, &kPluginNewCommand};
  return table;
}

const Command* FindCommand(std::string_view name) {
  for (const Command* command : Commands()) {
    if (command->name == name) return command;
  }
  return nullptr;
}

const Command* FindCommand(const std::vector<std::string>& args, size_t* words) {
  // Two words first: "plugin check" must not be taken for a command "plugin".
  for (*words = 2; *words > 0; --*words) {
    if (args.size() < *words) continue;
    const Command* command =
        FindCommand(*words == 2 ? absl::StrCat(args[0], " ", args[1]) : args[0]);
    if (command != nullptr) return command;
  }
  return nullptr;
}

std::vector<const Command*> CommandsOfFamily(std::string_view word) {
  std::vector<const Command*> family;
  for (const Command* command : Commands()) {
    if (command->name.starts_with(absl::StrCat(word, " "))) family.push_back(command);
  }
  return family;
}

std::string CommandLines(absl::Span<const Command* const> commands) {
  std::string text;
  for (const Command* command : commands) {
    absl::StrAppendFormat(&text, "  %-12s %-8s %s\n", command->name, command->arguments,
                          command->what);
  }
  return text;
}

std::string ProgramHelp() {
  std::string text =
      "graph_run: TensorFlow-style graphs and plug-ins, without TensorFlow.\n\n"
      "usage: graph_run COMMAND ARGUMENTS [FLAGS]\n"
      "       graph_run MODEL [FLAGS]             the same as graph_run run\n\nCommands:\n";
  absl::StrAppend(
      &text, CommandLines(Commands()),
      "\nEach command has its own --help. --version prints the versions of all interfaces.\n"
      "Exit codes: 0 ok, 1 run failed, 2 usage, 3 mismatch, 4 invalid graph or input file, 5 "
      "plug-in fault, 6 time-out, 130 interrupted.\n\n"
      "Examples:\n"
      "  graph_run show tests/golden/models/mlp/graph.pbtxt\n"
      "  graph_run tests/golden/models/mlp/graph.pbtxt --input 'x=4x20xf32=random(seed=1)'\n");
  return text;
}

void AddVersions(Json& doc) {
  const auto dotted = [](int major, int minor, int patch) {
    return absl::StrFormat("%d.%d.%d", major, minor, patch);
  };
  doc.Set("tensorflow", "2.21.0")
      .Set("graph_def", kGraphDefVersion)
      .Set("stream_executor", dotted(SE_MAJOR, SE_MINOR, SE_PATCH))
      .Set("graph_optimizer", dotted(GO_MAJOR, GO_MINOR, GO_PATCH))
      .Set("profiler", dotted(TP_MAJOR, TP_MINOR, TP_PATCH));
}

std::string VersionText() {
  return absl::StrFormat(
      "graph_run %s\n"
      "TensorFlow C API 2.21.0, GraphDef %d\n"
      "StreamExecutor C API %d.%d.%d\n"
      "Graph optimizer C API %d.%d.%d\n"
      "Profiler C API %d.%d.%d\n",
      Version(), kGraphDefVersion, SE_MAJOR, SE_MINOR, SE_PATCH, GO_MAJOR, GO_MINOR, GO_PATCH,
      TP_MAJOR, TP_MINOR, TP_PATCH);
}

}  // namespace tenon::cli
