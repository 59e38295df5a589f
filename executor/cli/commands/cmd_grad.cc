// graph_run grad: adds the gradients of one result to a graph and writes it.
#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/model/model.h"
#include "executor/cli/model/names.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/plugins/host.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/gradients.h"
#include "graph/io/io.h"

namespace tenon::cli {
namespace {

struct GradFlags : CompileFlags {
  std::string of, grad_of, written;
  std::vector<std::string> wrt;
  bool ignore_custom = false;

  void Declare(Declarer& d);
};

void GradFlags::Declare(Declarer& d) {
  d.Group(FlagGroup::kData);
  d.Text("--of", of, "LOSS", "the result to differentiate; if it is no scalar, its sum");
  d.List("--wrt", wrt, "A,B", "the tensors to differentiate by: nodes, outputs, variables");
  d.Text("--grad-of", grad_of, "LOSS=NAME", "what flows into LOSS in place of ones: an output");
  d.Flag("--ignore-custom-gradients", ignore_custom,
         "differentiate what nodes compute whose gradient the program defined that made the graph");
  d.Text("-o", written, "OUT", "where to write the graph: .pb or .pbtxt, .xz or .gz after it",
         RefuseExportName);
  DeclareSignature(d);
  DeclarePlugins(d);
  DeclareTimeout(d);
  DeclareLimits(d);
  DeclareOutput(d);
}

absl::Status CheckFlagsOf(const GradFlags& flags) {
  const auto needs = [](bool given, std::string_view what) {
    return given ? absl::OkStatus() : UsageError(absl::StrCat("graph_run grad needs ", what));
  };
  TENON_RETURN_IF_ERROR(needs(!flags.of.empty(), "--of LOSS: the result to differentiate"));
  TENON_RETURN_IF_ERROR(needs(!flags.wrt.empty(), "--wrt A,B: what to differentiate by"));
  return needs(!flags.written.empty(), "-o OUT: the .pb or .pbtxt to write");
}

// The output that --grad-of names for LOSS; none without the flag.
absl::StatusOr<Output> GradientOfLoss(const GradFlags& flags, const Names& names) {
  if (flags.grad_of.empty()) return Output();
  const std::string_view given = flags.grad_of;
  if (!absl::StartsWith(given, absl::StrCat(flags.of, "=")))
    return UsageError(absl::StrCat("--grad-of '", given, "' does not begin with '", flags.of,
                                   "=', the result of --of"));
  return names.Result("--grad-of", given.substr(flags.of.size() + 1));
}

absl::StatusOr<GradientRequest> RequestOf(const GradFlags& flags, const Model& model) {
  const Names names(model.graph, model.signature);
  GradientRequest request;
  request.ignore_unknown_rules = flags.ignore_custom;
  TENON_ASSIGN_OR_RETURN(request.ys.emplace_back(), names.Result("--of", flags.of));
  TENON_ASSIGN_OR_RETURN(request.grad_ys.emplace_back(), GradientOfLoss(flags, names));
  for (const std::string& name : flags.wrt) {
    TENON_ASSIGN_OR_RETURN(request.xs.emplace_back(), names.Argument("--wrt", name));
  }
  return request;
}

// The gradient of w is the node grad/w, that of w:1 the node grad/w_1. If there is such a node, as
// in a graph that has gradients already, a number follows.
absl::StatusOr<std::string> NameGradient(Graph& graph, Output x, Output gradient) {
  const std::string port = x.port == 0 ? "" : absl::StrCat("_", x.port);
  std::string name = graph.UniqueName(absl::StrCat("grad/", graph.name(x.node), port));
  const DataType type = BaseType(graph.output_type(gradient));
  TENON_RETURN_IF_ERROR(
      graph.AddNode(name, "Identity", std::array{gradient}, {{"T", attr::Type(type)}}).status());
  return name;
}

struct NamedGradients {
  Json json = Json::Array();
  std::vector<std::vector<std::string>> rows;
  int found = 0;
};

absl::StatusOr<NamedGradients> NameAll(const GradientRequest& request,
                                       const std::vector<Output>& gradients,
                                       const std::vector<std::string>& wrt, GraphShapes& shapes,
                                       Graph& graph) {
  NamedGradients named;
  for (size_t i = 0; i < gradients.size(); ++i) {
    Json entry = Json::Object();
    entry.Set("of", wrt[i]);
    if (gradients[i].node == kNoNode) {
      entry.Set("node", Json());
      named.rows.push_back({wrt[i], "none", "nothing that is differentiated depends on it"});
    } else {
      TENON_ASSIGN_OR_RETURN(const std::string name,
                             NameGradient(graph, request.xs[i], gradients[i]));
      entry.Set("node", name);
      named.rows.push_back({wrt[i], name,
                            absl::StrCat(DataTypeShortName(graph.output_type(gradients[i])),
                                         shapes.shape(gradients[i]).ToString())});
      ++named.found;
    }
    named.json.Push(std::move(entry));
  }
  return named;
}

// Names the flag that helps where a node asks for a gradient that no graph explains.
absl::Status WithAdvice(const absl::Status& status) {
  if (!absl::IsNotFound(status) || !absl::StrContains(status.message(), "_gradient_op_type"))
    return status;
  return Annotate(status, "",
                  "; with --ignore-custom-gradients what the node computes is differentiated");
}

absl::Status Grad(const GradFlags& flags, Invocation& invocation) {
  TENON_RETURN_IF_ERROR(CheckFlagsOf(flags));
  // A plug-in may bring ops that the graph uses.
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Host> host, Host::Open(flags));
  TENON_ASSIGN_OR_RETURN(Model model, LoadModel(flags, /*needs_signature=*/false));
  Graph& graph = model.graph;
  TENON_ASSIGN_OR_RETURN(const GradientRequest request, RequestOf(flags, model));
  const int before = graph.num_nodes();
  const auto start = std::chrono::steady_clock::now();
  TENON_ASSIGN_OR_RETURN(GraphShapes shapes, GraphShapes::Infer(graph));
  const absl::StatusOr<std::vector<Output>> gradients =
      AddDenseGradients(graph, shapes, {}, request);
  if (!gradients.ok()) return WithAdvice(gradients.status());
  const double took_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  TENON_ASSIGN_OR_RETURN(NamedGradients named,
                         NameAll(request, *gradients, flags.wrt, shapes, graph));
  Json times = Json::Object();
  times.Set("load", model.load_ms).Set("gradients", took_ms);
  invocation.doc.Set("gradients", std::move(named.json))
      .Set("times_ms", std::move(times))
      .Set("nodes_before", before)
      .Set("nodes_after", graph.num_nodes())
      .Set("written", named.found == 0 ? Json() : Json(flags.written));
  Table table({"with respect to", "node", "type"});
  for (std::vector<std::string>& row : named.rows) table.Row(std::move(row));
  invocation.text = table.Text(invocation.style);
  if (named.found == 0)
    return absl::FailedPreconditionError(
        absl::StrCat("'", flags.of, "' depends on none of ", absl::StrJoin(flags.wrt, ", "),
                     " in a way that has a gradient; nothing is written"));
  TENON_RETURN_IF_ERROR(ExportFile(graph, flags.written));
  absl::StrAppend(&invocation.text, "\n", Plural(graph.num_nodes(), "node"), ", ",
                  graph.num_nodes() - before, " of them new, made in ", Millis(took_ms),
                  ", written to ", flags.written, "\n");
  return absl::OkStatus();
}

}  // namespace

extern const Command kGradCommand = {
    .name = "grad",
    .arguments = "MODEL",
    .fewest = 1,
    .most = 1,
    .what = "Add the gradients of a result to a graph and write it.",
    .examples = {"graph_run grad tests/golden/models/mlp/graph.pbtxt --of out --wrt x -o "
                 "/tmp/mlp_grad.pbtxt",
                 "graph_run grad tests/golden/models/mlp/graph.pbtxt --of out --wrt x -o "
                 "/tmp/mlp_grad.pb --json"},
    .start = Start<GradFlags, Grad>,
};

}  // namespace tenon::cli
