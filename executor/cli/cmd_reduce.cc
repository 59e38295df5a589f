// graph_run reduce: the smallest graph and inputs for which the optimizer is still wrong.
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "executor/cli/array_file.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/indictment.h"
#include "executor/proof/reduce.h"
#include "graph/io.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

// "small.npz" beside "small.pbtxt.xz".
std::string ArchiveFor(const std::string& graph) {
  std::string_view base = graph;
  for (std::string_view extension : {".gz", ".xz", ".pbtxt", ".pb"})
    absl::ConsumeSuffix(&base, extension);
  return absl::StrCat(base, ".npz");
}

}  // namespace

absl::Status ReduceCommand(Invocation& invocation) {
  const Options& options = invocation.options;
  if (options.reduced.empty())
    return UsageError("graph_run reduce needs -o OUT.pbtxt, where the small graph goes");
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Indictment> indictment, OpenIndictment(options));
  const Court& court = *indictment->court;
  const std::string wrong = court.OptimizedIsWrong(indictment->suspect);
  if (wrong.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(options.paths.front(),
                     ": all rewrites together keep the answers: there is nothing to reduce"));
  }
  const GraphRunner runner(indictment->bench.host->devices(), indictment->bench.session_options);
  TENON_ASSIGN_OR_RETURN(const Reduction reduction,
                         Reduce(indictment->suspect, runner, [&](const Suspect& smaller) {
                           return !court.OptimizedIsWrong(smaller).empty();
                         }));
  const Suspect& small = reduction.suspect;
  const std::string archive = ArchiveFor(options.reduced);
  TENON_RETURN_IF_ERROR(ExportFile(small.graph, options.reduced));
  TENON_RETURN_IF_ERROR(SaveArchive(archive, small.inputs[0].feeds));
  const std::string still = court.OptimizedIsWrong(small);
  invocation.doc.Set("nodes_before", indictment->suspect.graph.num_nodes())
      .Set("nodes_after", small.graph.num_nodes())
      .Set("output", small.fetches[0])
      .Set("what", still)
      .Set("runs", reduction.trials)
      .Set("graph", options.reduced)
      .Set("inputs", archive);
  const Style& style = invocation.style;
  invocation.text = absl::StrCat(
      options.paths.front(), ": ", Plural(indictment->suspect.graph.num_nodes(), "node"), " -> ",
      small.graph.num_nodes(), " in ", Plural(reduction.trials, "trial"), "\n",
      style.Dim("written  "), options.reduced, " and ", archive, "\n", style.Dim("still    "),
      still, "\n", style.Dim("next     "), "graph_run bisect ", ShellWord(options.reduced),
      " --inputs ", ShellWord(archive), " --output ", ShellWord(small.fetches[0]), "\n");
  return absl::OkStatus();
}

}  // namespace tenon::cli
