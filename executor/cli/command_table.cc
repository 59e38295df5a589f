#include "executor/cli/command_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/version.h"
#include "graph/versions.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon::cli {

const std::vector<CommandInfo>& Commands() {
  static const auto& table = *new std::vector<CommandInfo>{
      {Command::kRun, "run", "MODEL", 1,
       "Import, optimize, place, plan and run a graph once; print, save or compare what it "
       "answers.",
       "  graph_run run tests/golden/models/mlp/graph.pbtxt --input 'x=4x20xf32=random(seed=1)'\n"
       "  graph_run run tests/golden/saved_models/affine_state/model --signature count --input "
       "x=2x4xf32=ones --session-runs 3 --json"},
      {Command::kBench, "bench", "MODEL", 1,
       "Warm up, time many runs, print statistics with a confidence interval; or compare two "
       "configurations.",
       "  graph_run bench tests/golden/models/mlp/graph.pbtxt --input x=4x20xf32=ones --seconds 1 "
       "--threads 1 --json\n"
       "  graph_run bench tests/golden/models/mlp/graph.pbtxt --input x=4x20xf32=ones "
       "--ab=--opt-level=0"},
      {Command::kShow, "show", "MODEL", 1,
       "Inputs, outputs, ops, constants, cost, and command lines to go on with.",
       "  graph_run show tests/golden/models/mlp/graph.pbtxt\n"
       "  graph_run show tests/golden/saved_models/affine_state/model --signature count --json"},
      {Command::kLint, "lint", "MODEL", 1,
       "Every defect of a graph with its place in the file; exit 4 if there is any.",
       "  graph_run lint tests/golden/models/mlp/graph.pbtxt\n"
       "  graph_run lint - < tests/golden/models/mlp/graph.pbtxt"},
      {Command::kOpt, "opt", "MODEL", 1, "Optimize a graph for its fetches and write it.",
       "  graph_run opt tests/golden/models/mlp/graph.pbtxt -o /tmp/mlp.pbtxt --time-passes\n"
       "  graph_run opt --list-passes"},
      {Command::kExplain, "explain", "MODEL", 1,
       "Where each node goes, why, why not elsewhere, and which copies that causes.",
       "  graph_run explain tests/golden/models/mlp/graph.pbtxt\n"
       "  graph_run explain tests/golden/models/mlp/graph.pbtxt --opt-level 0 --json"},
      {Command::kDiff, "diff", "A B", 2, "What changed between two graphs, node by node.",
       "  graph_run diff tests/golden/passes/remapping/conv_bias_relu.in.pbtxt "
       "tests/golden/passes/remapping/conv_bias_relu.out.pbtxt\n"
       "  graph_run diff tests/golden/passes/model_pruning/bypass_identities.in.pbtxt "
       "tests/golden/passes/model_pruning/bypass_identities.out.pbtxt --json"},
      {Command::kBisect, "bisect", "MODEL", 1,
       "Find the rewrites that change what a model answers: one, or some that do so only together; "
       "or the nodes that answer otherwise where they are placed.",
       "  graph_run bisect tests/golden/models/mlp/graph.pbtxt\n"
       "  graph_run bisect tests/golden/models/mlp/graph.pbtxt --input x=4x20xf32=ones --max-ulp "
       "0"},
      {Command::kReduce, "reduce", "MODEL", 1,
       "Write the smallest graph and inputs for which the optimizer still changes what a model "
       "answers.",
       "  graph_run reduce tests/golden/models/mlp/graph.pbtxt --max-ulp 0 --rtol 0 --atol 0 -o "
       "/tmp/small.pbtxt\n"
       "  graph_run reduce tests/golden/models/mlp/graph.pbtxt --input x=4x20xf32=ones -o "
       "/tmp/small.pbtxt --json"},
      {Command::kFreeze, "freeze", "DIR", 1,
       "Write a SavedModel's signature as one graph, its variables folded into constants.",
       "  graph_run freeze tests/golden/saved_models/keras_classifier/model -o /tmp/classifier.pb\n"
       "  graph_run freeze tests/golden/saved_models/recurrent/model -o /tmp/recurrent.pbtxt "
       "--json"},
      {Command::kDevices, "devices", "", 0,
       "Devices, the plug-ins they come from, and what they can run.",
       "  graph_run devices\n"
       "  graph_run devices --kernels"},
      {Command::kCheck, "check", "PATH...", SIZE_MAX,
       "Run self-checking graphs; a table of passed, failed, unimplemented and crashed cases per "
       "op.",
       "  graph_run check tests/golden/ops\n"
       "  graph_run check tests/golden/ops --ops Relu,MatMul --json"},
      {Command::kPluginCheck, "plugin check", "SO", 1,
       "Whether a plug-in would load here, what it needs and brings, and per problem what to do. "
       "Its code runs in a child process only.",
       "  graph_run plugin check build/release/lib/plugins/libapu.so\n"
       "  graph_run plugin check build/release/lib/plugins/libapu.so --json"},
      {Command::kPluginNew, "plugin new", "NAME DIR", 2,
       "Write a plug-in that builds and passes its test: a device, two kernels, an op, a pass.",
       "  graph_run plugin new toy /tmp/toy\n"
       "  graph_run plugin new my_board /tmp/my_board --json"},
  };
  return table;
}

const CommandInfo* FindCommand(std::string_view name) {
  for (const CommandInfo& info : Commands()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const CommandInfo* FindCommand(const std::vector<std::string>& args, size_t* words) {
  for (*words = 2; *words > 0; --*words) {
    if (args.size() < *words) continue;
    const CommandInfo* info =
        FindCommand(*words == 2 ? absl::StrCat(args[0], " ", args[1]) : args[0]);
    if (info != nullptr) return info;
  }
  return nullptr;
}

std::string_view NameOf(Command command) {
  for (const CommandInfo& info : Commands()) {
    if (info.command == command) return info.name;
  }
  return {};
}

std::string ProgramHelp() {
  std::string text =
      "graph_run: TensorFlow-style graphs and plug-ins, without TensorFlow.\n\n"
      "usage: graph_run COMMAND ARGUMENTS [FLAGS]\n"
      "       graph_run MODEL [FLAGS]             the same as graph_run run\n\nCommands:\n";
  for (const CommandInfo& info : Commands()) {
    absl::StrAppendFormat(&text, "  %-12s %-8s %s\n", info.name, info.arguments, info.what);
  }
  absl::StrAppend(
      &text,
      "\nEach command has its own --help. --version prints the versions of all interfaces.\n"
      "Exit codes: 0 ok, 1 run failed, 2 usage, 3 mismatch, 4 invalid graph or input file, 5 "
      "plug-in fault, 6 time-out.\n\n"
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
