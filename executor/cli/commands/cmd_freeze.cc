// graph_run freeze: writes a SavedModel as one graph with the values of its variables.
#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/model/frozen.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/invocation.h"
#include "graph/base/status_macros.h"
#include "graph/io/io.h"

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
  const Graph& graph = frozen.model.graph;
  TENON_RETURN_IF_ERROR(ExportFile(graph, flags.frozen));
  WarnOfOtherNames(frozen.model, flags);
  AddFrozen(frozen, invocation.doc);
  invocation.doc.Set("nodes", graph.num_nodes())
      .Set("functions", graph.functions().size())
      .Set("written", flags.frozen);
  const Style& style = invocation.style;
  const std::string needs = NeedsText(frozen.model, flags.frozen);
  invocation.text = absl::StrCat(
      flags.paths.front(), ", signature ", style.Bold(frozen.signature.name), ": ",
      Plural(frozen.model.variables, "variable"), " of ", Bytes(frozen.model.variable_bytes),
      " folded; ", Plural(graph.num_nodes(), "node"), " and ",
      Plural(static_cast<int64_t>(graph.functions().size()), "function"), " written to ",
      flags.frozen, "\n\n", FrozenTable(frozen.model, /*tensors=*/true, style),
      needs.empty() ? "" : "\n", needs);
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
