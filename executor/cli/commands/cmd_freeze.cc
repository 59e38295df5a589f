// graph_run freeze: writes a SavedModel as one graph with the values of its variables.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/cli/commands/computed_graph.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/model/frozen.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/invocation.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_library.h"
#include "graph/io/io.h"
#include "graph/ir/nodes.h"

namespace tenon::cli {
namespace {

struct FreezeFlags : CompileFlags {
  std::string frozen;  // the file to write

  void Declare(Declarer& d);
};

void FreezeFlags::Declare(Declarer& d) {
  DeclareSignature(d);
  DeclareInit(d);
  d.Text("-o", frozen, "OUT", "where to write the graph: .pb or .pbtxt, .xz or .gz after it",
         RefuseExportName);
  DeclareKeepState(d);
  DeclareFileIo(d);
  DeclarePlugins(d);
  DeclarePlacement(d);
  DeclareLevel(d);
  DeclareTimeout(d);
  DeclareLimits(d);
  DeclareOutput(d);
}

// The graph with bodies in place of calls, so that whoever reads the file sees what it computes.
// All nodes that FrozenModel names stay. Errors are those of ComputedGraph.
absl::StatusOr<Graph> WithCallsInlined(const FrozenModel& frozen) {
  std::vector<std::string> feeds, fetches;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const FrozenTensor& t : frozen.inputs) {
    add(feeds, t.node);
    // An input stays, also where nobody reads it.
    const bool is_fed = NodeOfOutput(frozen.graph, t.tensor) == frozen.graph.FindNode(t.node);
    add(fetches, is_fed ? absl::StrCat("^", t.node) : t.tensor);
  }
  for (const FrozenTensor& t : frozen.outputs) {
    add(fetches, t.node);
    add(fetches, t.tensor);
  }
  if (!frozen.init.empty()) add(fetches, absl::StrCat("^", frozen.init));
  TENON_ASSIGN_OR_RETURN(Graph inlined, ComputedGraph(frozen.graph, feeds, fetches));
  RemoveUnreachableFunctions(inlined, [] { return true; });
  // A result reads what has its old name, so that the graph does not have both as outputs.
  for (const FrozenTensor& t : frozen.outputs) {
    const NodeId result = inlined.FindNode(t.node);
    const absl::StatusOr<Output> old = inlined.ParseOutput(t.tensor);
    if (!old.ok() || result == kNoNode || old->node == result) continue;
    if (inlined.op_name(result) == "Identity") inlined.SetInput(result, 0, *old);
  }
  return inlined;
}

// The nodes that call a function, by name.
std::vector<std::string> CallsOf(const Graph& graph) {
  std::vector<std::string> calls;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    const bool is_call = graph.alive(n) && (graph.facts(n).calls == CallKind::kFunction ||
                                            graph.FindFunction(graph.op_name(n)) != nullptr);
    if (is_call) calls.emplace_back(graph.name(n));
  }
  return calls;
}

absl::Status FreezeFolder(const FreezeFlags& flags, Invocation& invocation) {
  if (flags.frozen.empty())
    return UsageError("graph_run freeze needs -o OUT: the .pb or .pbtxt to write");
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Host> host, Host::Open(flags));
  TENON_ASSIGN_OR_RETURN(SessionOptions session_options, SessionOptionsFrom(flags));
  TENON_ASSIGN_OR_RETURN(const Model model, LoadModel(flags, /*needs_signature=*/true));
  if (!model.saved.has_value())
    return UsageError(absl::StrCat(flags.paths.front(),
                                   " is no SavedModel folder: there is "
                                   "nothing to freeze"));
  TENON_ASSIGN_OR_RETURN(const Frozen frozen,
                         FreezeModel(model, flags, *host, std::move(session_options)));
  const absl::StatusOr<Graph> inlined = WithCallsInlined(frozen.model);
  if (!inlined.ok()) {
    Warn(flags, absl::StrCat("what is written has calls, which could not be inlined: ",
                             inlined.status().message()));
  }
  const Graph& graph = inlined.ok() ? *inlined : frozen.model.graph;
  const std::vector<std::string> calls = CallsOf(graph);
  TENON_RETURN_IF_ERROR(ExportFile(graph, flags.frozen));
  WarnOfOtherNames(frozen.model, flags);
  AddFrozen(frozen, invocation.doc);
  invocation.doc.Set("nodes", graph.num_nodes())
      .Set("functions", graph.functions().size())
      .Set("calls", Json::ArrayOf(calls))
      .Set("written", flags.frozen);
  const Style& style = invocation.style;
  const std::string needs = NeedsText(frozen.model);
  invocation.text = absl::StrCat(
      flags.paths.front(), ", signature ", style.Bold(frozen.signature.name), ": ",
      Plural(frozen.model.variables, "variable"), " of ", Bytes(frozen.model.variable_bytes),
      " folded; ", Plural(graph.num_nodes(), "node"), " and ",
      Plural(static_cast<int64_t>(graph.functions().size()), "function"), " written to ",
      flags.frozen, "\n",
      calls.empty() ? "" : absl::StrCat("calls that stay: ", Listed(calls), "\n"), "\n",
      FrozenTable(frozen.model, /*tensors=*/true, style), needs.empty() ? "" : "\n", needs);
  return absl::OkStatus();
}

}  // namespace

extern const Command kFreezeCommand = {
    .name = "freeze",
    .arguments = "DIR",
    .fewest = 1,
    .most = 1,
    .what = "Write a SavedModel's signature as one graph, its variables folded into constants.",
    .examples = {"graph_run freeze tests/golden/saved_models/keras_classifier/model -o "
                 "/tmp/classifier.pb",
                 "graph_run freeze tests/golden/saved_models/recurrent/model -o "
                 "/tmp/recurrent.pbtxt --json"},
    .start = Start<FreezeFlags, FreezeFolder>,
};

}  // namespace tenon::cli
