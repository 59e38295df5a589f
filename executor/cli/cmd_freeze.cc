// graph_run freeze: a SavedModel with its variables folded into a graph.
#include "absl/strings/str_cat.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/frozen.h"
#include "executor/cli/invocation.h"
#include "graph/io.h"
#include "graph/status_macros.h"

namespace tenon::cli {

absl::Status FreezeCommand(Invocation& invocation) {
  const Options& options = invocation.options;
  if (options.frozen.empty())
    return UsageError("graph_run freeze needs -o OUT: the .pb or .pbtxt to write");
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Host> host, Host::Open(options));
  TENON_ASSIGN_OR_RETURN(SessionOptions session_options, SessionOptionsFrom(options));
  TENON_ASSIGN_OR_RETURN(const Model model, LoadModel(options));
  if (!model.saved.has_value())
    return UsageError(absl::StrCat(options.paths.front(),
                                   " is no SavedModel folder: there is "
                                   "nothing to freeze"));
  TENON_ASSIGN_OR_RETURN(const Frozen frozen,
                         FreezeModel(model, options, *host, std::move(session_options)));
  const Graph& graph = frozen.model.graph;
  TENON_RETURN_IF_ERROR(ExportFile(graph, options.frozen));
  AddFrozen(frozen, invocation.doc);
  invocation.doc.Set("nodes", graph.num_nodes())
      .Set("functions", graph.functions().size())
      .Set("written", options.frozen);
  const Style& style = invocation.style;
  const std::string init = InitText(frozen.model, options.frozen);
  invocation.text = absl::StrCat(
      options.paths.front(), ", signature ", style.Bold(frozen.signature.name), ": ",
      Plural(frozen.model.variables, "variable"), " of ", Bytes(frozen.model.variable_bytes),
      " folded; ", Plural(graph.num_nodes(), "node"), " and ",
      Plural(static_cast<int64_t>(graph.functions().size()), "function"), " written to ",
      options.frozen, "\n\n", FrozenTable(frozen.model, /*tensors=*/true, style),
      init.empty() ? "" : "\n", init);
  return absl::OkStatus();
}

}  // namespace tenon::cli
