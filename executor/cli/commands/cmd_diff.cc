// graph_run diff: shows what changed between two graphs.
#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/graphs/explain_node.h"
#include "executor/cli/graphs/graph_text.h"
#include "executor/cli/model/model.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/options/model_flags.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/shared_functions.h"

namespace tenon::cli {
namespace {

absl::StatusOr<Graph> Load(const std::string& path, const ModelFlags& flags) {
  // Not LoadModel: graphs with defects can be compared too.
  TENON_ASSIGN_OR_RETURN(ImportedModel model, ImportModel(path, flags));
  return std::move(model.imported.graph);
}

Json ChangeJson(const Graph& a, const Graph& b, const NodeChange& change) {
  Json json = Json::Object();
  const bool added = change.before == kNoNode, removed = change.after == kNoNode;
  json.Set("name", added ? b.name(change.after) : a.name(change.before))
      .Set("change", added     ? "added"
                     : removed ? "removed"
                               : "changed")
      .Set("before", added ? Json() : Json(NodeText(a, change.before)))
      .Set("after", removed ? Json() : Json(NodeText(b, change.after)))
      .Set("what", added || removed ? "" : ChangeText(a, b, change));
  const Provenance::History history =
      removed ? Provenance::History() : WrittenHistory(b, change.after);
  json.Set("origins", Json::ArrayOf(history.origins))
      .Set("rewrites", Json::ArrayOf(history.rewrites));
  return json;
}

struct DiffCounts {
  int64_t added = 0, removed = 0, changed = 0;
};

// Adds the changes to `list` and to `counts`.
void AddChanges(const Graph& a, const Graph& b, const std::vector<NodeChange>& changes, Json& list,
                DiffCounts& counts) {
  for (const NodeChange& change : changes) {
    ++(change.before == kNoNode  ? counts.added
       : change.after == kNoNode ? counts.removed
                                 : counts.changed);
    list.Push(ChangeJson(a, b, change));
  }
}

std::string CountsText(const DiffCounts& counts) {
  return absl::StrCat(Plural(counts.changed, "node"), " changed, ", counts.added, " added, ",
                      counts.removed, " removed");
}

// The body of the function as a graph; an empty graph if there is no such function, or if it takes
// attributes, which only calls know.
Graph BodyOf(const Graph& graph, const FunctionEntry* function,
             const std::shared_ptr<SharedFunctions>& functions) {
  if (function == nullptr) return Graph();
  absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(graph, *function, functions);
  return body.ok() ? std::move(body->graph) : Graph();
}

// The functions that differ between two graphs, with their nodes that differ.
class FunctionDiff {
 public:
  FunctionDiff(const Graph& a, const Graph& b, const Style& style) : a_(a), b_(b), style_(style) {
    for (const FunctionEntry& was : a.functions()) {
      const FunctionEntry* is = b.FindFunction(was.name);
      if (is == nullptr || is->wire != was.wire) Add(&was, is);
    }
    for (const FunctionEntry& is : b.functions()) {
      if (a.FindFunction(is.name) == nullptr) Add(nullptr, &is);
    }
  }

  Json TakeJson() { return std::move(list_); }
  const std::string& text() const { return text_; }

 private:
  void Add(const FunctionEntry* was, const FunctionEntry* is) {
    const std::string_view name = (was == nullptr ? is : was)->name;
    const std::string_view change = was == nullptr  ? "added"
                                    : is == nullptr ? "removed"
                                                    : "changed";
    const Graph before = BodyOf(a_, was, functions_of_a_), after = BodyOf(b_, is, functions_of_b_);
    const std::vector<NodeChange> changes = ChangesBetween(before, after);
    Json nodes = Json::Array();
    DiffCounts counts;
    AddChanges(before, after, changes, nodes, counts);
    Json json = Json::Object();
    json.Set("name", name).Set("change", change).Set("changes", std::move(nodes));
    list_.Push(std::move(json));
    const int64_t size = was == nullptr ? NodesOf(b_, *is) : NodesOf(a_, *was);
    absl::StrAppend(&text_, "function ", name, " ", change, ": ",
                    change == "changed" ? CountsText(counts) : Plural(size, "node"), "\n");
    if (is != nullptr) text_ += DiffText(before, after, changes, style_);
  }

  static int64_t NodesOf(const Graph& graph, const FunctionEntry& function) {
    return static_cast<int64_t>(ParseFunctionBody(graph, function).nodes.size());
  }

  const Graph& a_;
  const Graph& b_;
  const Style& style_;
  const std::shared_ptr<SharedFunctions> functions_of_a_ = SharedFunctions::Of(a_),
                                         functions_of_b_ = SharedFunctions::Of(b_);
  Json list_ = Json::Array();
  std::string text_;
};

struct DiffFlags : ModelFlags {
  void Declare(Declarer& d) {
    DeclarePlugins(d);
    DeclareTimeout(d);
    DeclareLimits(d);
    DeclareOutput(d);
  }
};

absl::Status Diff(const DiffFlags& flags, Invocation& invocation) {
  TENON_ASSIGN_OR_RETURN(const Graph a, Load(flags.paths[0], flags));
  TENON_ASSIGN_OR_RETURN(const Graph b, Load(flags.paths[1], flags));
  const std::vector<NodeChange> changes = ChangesBetween(a, b);
  Json list = Json::Array();
  DiffCounts counts;
  AddChanges(a, b, changes, list, counts);
  FunctionDiff functions(a, b, invocation.style);
  invocation.doc.Set("nodes_before", a.num_nodes())
      .Set("nodes_after", b.num_nodes())
      .Set("added", counts.added)
      .Set("removed", counts.removed)
      .Set("changed", counts.changed)
      .Set("changes", std::move(list))
      .Set("functions", functions.TakeJson());
  invocation.text =
      absl::StrCat(DiffText(a, b, changes, invocation.style), CountsText(counts), "; ",
                   a.num_nodes(), " -> ", b.num_nodes(), "\n", functions.text());
  return absl::OkStatus();
}

}  // namespace

extern const Command kDiffCommand = {
    .name = "diff",
    .arguments = "A B",
    .fewest = 2,
    .most = 2,
    .what = "What changed between two graphs, node by node.",
    .examples = {"graph_run diff tests/golden/passes/remapping/conv_bias_relu.in.pbtxt "
                 "tests/golden/passes/remapping/conv_bias_relu.out.pbtxt",
                 "graph_run diff tests/golden/passes/model_pruning/bypass_identities.in.pbtxt "
                 "tests/golden/passes/model_pruning/bypass_identities.out.pbtxt --json"},
    .start = Start<DiffFlags, Diff>,
};

}  // namespace tenon::cli
