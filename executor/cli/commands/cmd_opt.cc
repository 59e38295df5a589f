// graph_run opt: optimizes a graph for its fetches and writes the result.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/cli/commands/emit_program.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/graphs/explain_node.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/model/frozen.h"
#include "executor/cli/model/model.h"
#include "executor/cli/model/whole_model.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/flags.h"
#include "executor/cli/passes/pass_report.h"
#include "executor/cli/reports/page.h"
#include "executor/freeze/kept_state.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_body.h"
#include "grappler_lite/target/target_graph.h"

namespace tenon::cli {

extern const Command kOptCommand;

namespace {

struct OptFlags : CompileFlags {
  bool list_passes = false;
  EmitFlags program;

  OptFlags() {
    defaults.target = Target::TensorFlow();
    // Passes see constants in place of variables, and the written graph has their values.
    defaults.freezes = true;
  }
  void Declare(Declarer& d);
};

// Why -o takes no such name. One without an ending may be that of a folder (WritesFolder).
std::string RefuseOutput(const std::string& path) {
  const bool may_be_folder = !path.empty() && !std::filesystem::path(path).has_extension();
  if (may_be_folder || path.ends_with(".mlir")) return "";
  const std::string wrong = RefuseExportName(path);
  return wrong.empty() ? "" : absl::StrCat(wrong, ", or in / for the folder of a SavedModel");
}

void OptFlags::Declare(Declarer& d) {
  DeclareOutputs(d);
  DeclareSignature(d);
  DeclareInit(d,
              "a node that is run first: it stays in what is written; of a SavedModel it is run");
  DeclareKeepState(d);
  DeclareFileIo(d);
  DeclarePlugins(d);
  DeclarePlacement(d);
  DeclareLevel(d);
  DeclarePasses(d);
  d.Flag("--list-passes", list_passes, "the passes in their order, with their rewrites");
  DeclareWatching(d);
  DeclareRewriting(d);
  DeclareBisectLimit(d);
  d.Group(FlagGroup::kOptimizer);
  d.Text("-o,--save-optimized", save_optimized, "OUT",
         "write the optimized graph: .pb or .pbtxt, .xz or .gz after it; with --emit a .mlir; of a "
         "SavedModel a folder, DIR or DIR/, which gets a SavedModel of the graph",
         RefuseOutput);
  d.Text("--explain-node", explain_node, "NAME",
         "which nodes and rewrites a node of the optimized graph comes from, or where one went; "
         "FUNCTION:NODE is one of a function's body");
  d.Choice("--emit", {"stablehlo"}, "stablehlo",
           "-o writes a program for devices that compile, in place of the graph",
           [this](const std::string& format) { program.emit = format; });
  d.Repeat("--shape", program.shapes, "NAME=DIMS",
           "of an argument, for --emit, such as x=8x128; unknown sizes are 1 otherwise");
  DeclareReport(d);
  d.Flag("--provenance", provenance,
         "write where nodes come from with them, as _tenon_origins and _tenon_rewrites");
  DeclareTimeout(d);
  DeclareLimits(d);
  DeclareOutput(d);
}

std::string_view ExactnessName(Exactness exactness) {
  switch (exactness) {
    case Exactness::kExact:
      return "same bits";
    case Exactness::kToleranced:
      return "within tolerance";
    case Exactness::kLowPrecision:
      return "fewer bits";
    case Exactness::kFastMath:
      return "fast math";
  }
  return "";
}

// The exactness of the least exact rewrite that is on by default.
Exactness DefaultExactness(const std::vector<RewriteInfo>& rewrites) {
  Exactness least = Exactness::kExact;
  for (const RewriteInfo& rewrite : rewrites) {
    if (rewrite.exactness != Exactness::kFastMath) least = std::max(least, rewrite.exactness);
  }
  return least;
}

// Lists the passes in their order, each with its rewrites under the names that --disable-rewrite
// takes.
void ListPasses(Invocation& invocation) {
  Table table({"pass and rewrites", "numbers", "what it does"});
  Json list = Json::Array();
  for (const PassEntry& pass : PassOrder()) {
    const std::vector<RewriteInfo> rewrites = pass.make()->rewrites();
    const std::string_view exactness = ExactnessName(DefaultExactness(rewrites));
    table.Row({invocation.style.Bold(pass.name), std::string(rewrites.empty() ? "" : exactness),
               absl::StrCat(pass.what, pass.off.empty() ? "" : "; off: ", pass.off)});
    Json rewrites_json = Json::Array();
    for (const RewriteInfo& rewrite : rewrites) {
      const std::string name = absl::StrCat(pass.name, ".", rewrite.name);
      table.Row({absl::StrCat("  ", name), std::string(ExactnessName(rewrite.exactness)),
                 rewrite.exactness == Exactness::kFastMath ? "off without --fast-math" : ""});
      Json json = Json::Object();
      json.Set("name", name).Set("exactness", ExactnessName(rewrite.exactness));
      rewrites_json.Push(std::move(json));
    }
    Json parameters = Json::Object();
    for (const PassOption& option : pass.make()->options()) {
      table.Row({absl::StrCat("  (", option.name, "=", option.otherwise, ")"), "",
                 std::string(option.what)});
      parameters.Set(option.name, option.otherwise);
    }
    Json json = Json::Object();
    json.Set("name", pass.name)
        .Set("options", std::move(parameters))
        .Set("what", pass.what)
        .Set("exactness", exactness)
        .Set("off", pass.off.empty() ? Json() : Json(pass.off))
        .Set("rewrites", std::move(rewrites_json));
    list.Push(std::move(json));
  }
  invocation.doc.Set("available_passes", std::move(list));
  invocation.text = absl::StrCat(
      table.Text(invocation.style),
      "\nThe graph pass of a plug-in runs after these, if a node is placed on its device; its name "
      "is plugin:TYPE.\n");
}

// Reports state. For a SavedModel: what became of its arguments, results and state. For a graph: a
// warning if what is written holds state and no node that fills it.
void AddState(const Workbench& bench, const Executable& executable, const OptFlags& flags,
              Invocation& invocation) {
  if (bench.frozen != nullptr) {
    AddFrozen(*bench.frozen, invocation.doc);
    const FrozenModel& model = bench.frozen->model;
    const std::string table = FrozenTable(model, /*tensors=*/false, invocation.style);
    if (!table.empty()) absl::StrAppend(&invocation.text, "\n", table, "\n");
    if (flags.save_optimized.empty()) return;
    WarnOfOtherNames(model, flags);
    absl::StrAppend(&invocation.text, NeedsText(model));
    return;
  }
  if (flags.save_optimized.empty() || flags.defaults.whole) return;
  if (const std::string state = UnfilledState(OptimizedGraph(executable)); !state.empty())
    Warn(flags, absl::StrCat(flags.save_optimized, " holds ", state,
                             " and nothing that fills it; --init NODE keeps what does"));
}

// The number of nodes in the functions of the library.
int64_t FunctionNodes(const Graph& graph) {
  int64_t nodes = 0;
  for (const FunctionEntry& function : graph.functions())
    nodes += static_cast<int64_t>(ParseFunctionBody(graph, function).nodes.size());
  return nodes;
}

// Says which TensorFlow can run the graph. It is later than the target if the model itself has ops
// of a later one.
void TellTarget(const Target& target, const Graph& written, Invocation& invocation) {
  invocation.doc.Set("target", target.name());
  if (!target.is_tensorflow()) return;
  const Oldest oldest = OldestTensorFlow(written);
  invocation.doc.Set("tensorflow", absl::StrCat("2.", std::max(oldest.minor, target.minor())));
  if (oldest.minor <= target.minor()) return;
  const std::string line =
      absl::StrCat("runs in TensorFlow 2.", oldest.minor, " and later, which brought ", oldest.why);
  absl::StrAppend(&invocation.text, line, "\n");
  if (target.minor() > 0)
    Warn(invocation.output, absl::StrCat("--target ", target.name(), ": the graph ", line));
}

// Adds what --explain-node asks for; nothing if it names no node.
absl::Status AddNodeHistory(const Workbench& bench, const Executable& executable,
                            const std::string& node, Invocation& invocation) {
  if (node.empty()) return absl::OkStatus();
  return ExplainNode(*bench.watchers->provenance(), bench.graph(), OptimizedGraph(executable), node,
                     invocation);
}

// -o and --emit must want the same kind of file.
absl::Status CheckOutput(const OptFlags& flags) {
  const bool is_program = flags.save_optimized.ends_with(".mlir");
  if (is_program && flags.program.emit.empty())
    return UsageError("-o: a .mlir file is written with --emit stablehlo");
  if (!is_program && !flags.program.emit.empty() && !flags.save_optimized.empty())
    return UsageError("-o: --emit stablehlo writes a file that ends in .mlir");
  return absl::OkStatus();
}

// Optimizes the graph and writes it as a program.
absl::Status EmitOptimized(OptFlags flags, Invocation& invocation) {
  const std::string path = std::exchange(flags.save_optimized, "");
  TENON_ASSIGN_OR_RETURN(Workbench bench, OpenWorkbench(flags));
  TENON_ASSIGN_OR_RETURN(const Endpoints ends, RequestedEndpoints(bench.names(), flags));
  TENON_ASSIGN_OR_RETURN(const Executable* executable,
                         PrepareExecutable(bench, flags, ends.feeds, ends.fetches));
  return EmitProgram(OptimizedGraph(*executable), bench.names(), ends, flags.program, path,
                     invocation);
}

// Says whether -o names a folder for a SavedModel. kUsage: it names neither a graph's file nor such
// a folder, or a flag asks for a part of what the folder gets.
absl::StatusOr<bool> WritesFolder(const OptFlags& flags) {
  if (flags.save_optimized.empty()) return false;
  const std::string wrong = RefuseExportName(flags.save_optimized);
  if (wrong.empty()) return false;
  if (!IsSavedModel(flags.paths.front()))
    return UsageError(absl::StrCat("graph_run opt: -o: ", wrong));
  const std::pair<bool, const char*> parts[] = {{!flags.signature.empty(), "--signature"},
                                                {!flags.outputs.empty(), "--output"},
                                                {!flags.inits.empty(), "--init"},
                                                {flags.keep_state, "--keep-state"}};
  for (const auto& [given, name] : parts) {
    if (!given) continue;
    return UsageError(absl::StrCat(name, ": ", flags.save_optimized,
                                   " gets all signatures, variables and initializers; name a .pb "
                                   "or .pbtxt file for a part"));
  }
  return true;
}

absl::StatusOr<Endpoints> EndpointsFor(const Workbench& bench, const OptFlags& flags) {
  if (flags.defaults.whole && bench.saved.has_value()) {
    absl::StatusOr<Endpoints> all = EndpointsOfWhole(*bench.saved, bench.graph());
    if (!all.ok()) return FaultOfFiles(all.status());
    return all;
  }
  TENON_ASSIGN_OR_RETURN(Endpoints ends, RequestedEndpoints(bench.names(), flags));
  for (const std::string& init : bench.inits) ends.fetches.push_back(absl::StrCat("^", init));
  return ends;
}

absl::Status OptModel(const OptFlags& flags, Invocation& invocation) {
  TENON_ASSIGN_OR_RETURN(Workbench bench, OpenWorkbench(flags));
  const Graph& graph = bench.graph();
  TENON_ASSIGN_OR_RETURN(const Endpoints ends, EndpointsFor(bench, flags));
  // Proofs compare with the values that the folder has.
  if (flags.verify_each == "numeric")
    TENON_RETURN_IF_ERROR(RestoreVariables(*bench.session, bench));
  TENON_ASSIGN_OR_RETURN(const Executable* executable,
                         PrepareExecutable(bench, flags, ends.feeds, ends.fetches));
  const PipelineReport& report = OptimizerReport(*executable);
  invocation.doc.Set("passes", PassesJson(report))
      .Set("nodes_before", graph.num_nodes())
      .Set("nodes_after", OptimizedGraph(*executable).num_nodes())
      .Set("function_nodes_before", FunctionNodes(graph))
      .Set("function_nodes_after", FunctionNodes(OptimizedGraph(*executable)))
      .Set("written", flags.save_optimized.empty() ? Json() : Json(flags.save_optimized));
  invocation.text = absl::StrCat(flags.paths.front(), ": ", Plural(graph.num_nodes(), "node"),
                                 " -> ", OptimizedGraph(*executable).num_nodes(), " in ",
                                 Millis(TimesReport(*executable).optimize), "\n");
  absl::StrAppend(&invocation.text,
                  flags.save_optimized.empty() ? "nothing is written; add -o OUT.pb or OUT.pbtxt"
                                               : absl::StrCat("written to ", flags.save_optimized),
                  "\n");
  TellTarget(bench.session_options.pipeline.target, OptimizedGraph(*executable), invocation);
  AddState(bench, *executable, flags, invocation);
  AddVerified(bench.watchers->verifier(), flags, invocation);
  if (flags.time_passes || flags.verbose)
    absl::StrAppend(&invocation.text, "\n", PassTable(report, invocation.style));
  return Page(flags).Write(bench, *executable, nullptr,
                           AddNodeHistory(bench, *executable, flags.explain_node, invocation));
}

absl::Status Opt(const OptFlags& flags, Invocation& invocation) {
  if (flags.list_passes) {
    ListPasses(invocation);
    return absl::OkStatus();
  }
  if (flags.paths.empty()) return TooFewArguments(kOptCommand);
  TENON_RETURN_IF_ERROR(CheckOutput(flags));
  if (!flags.program.emit.empty()) return EmitOptimized(flags, invocation);
  TENON_ASSIGN_OR_RETURN(const bool writes_folder, WritesFolder(flags));
  if (!writes_folder) return OptModel(flags, invocation);
  OptFlags whole = flags;
  whole.defaults.freezes = false;
  whole.defaults.whole = true;
  return OptModel(whole, invocation);
}

}  // namespace

const Command kOptCommand = {
    .name = "opt",
    .arguments = "MODEL",
    .fewest = 0,  // --list-passes needs none
    .most = 1,
    .what = "Optimize a graph for its fetches and write it.",
    .examples = {"graph_run opt tests/golden/models/mlp/graph.pbtxt -o /tmp/mlp.pbtxt "
                 "--time-passes",
                 "graph_run opt --list-passes"},
    .start = Start<OptFlags, Opt>,
};

}  // namespace tenon::cli
