// graph_run diff: what changed between two graphs.
#include "absl/strings/str_cat.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/explain_node.h"
#include "executor/cli/graph_text.h"
#include "executor/cli/invocation.h"
#include "executor/cli/model.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

absl::StatusOr<Graph> Load(const std::string& path, const Options& options) {
  TENON_ASSIGN_OR_RETURN(ImportedModel model, ImportModel(path, options));
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
  const Provenance::Story story = removed ? Provenance::Story() : WrittenStory(b, change.after);
  json.Set("origins", Json::ArrayOf(story.origins)).Set("rewrites", Json::ArrayOf(story.rewrites));
  return json;
}

}  // namespace

absl::Status DiffCommand(Invocation& invocation) {
  const Options& options = invocation.options;
  TENON_ASSIGN_OR_RETURN(const Graph a, Load(options.paths[0], options));
  TENON_ASSIGN_OR_RETURN(const Graph b, Load(options.paths[1], options));
  const std::vector<NodeChange> changes = ChangesBetween(a, b);
  Json list = Json::Array();
  int64_t added = 0, removed = 0;
  for (const NodeChange& change : changes) {
    added += change.before == kNoNode ? 1 : 0;
    removed += change.after == kNoNode ? 1 : 0;
    list.Push(ChangeJson(a, b, change));
  }
  const int64_t changed = static_cast<int64_t>(changes.size()) - added - removed;
  invocation.doc.Set("nodes_before", a.num_nodes())
      .Set("nodes_after", b.num_nodes())
      .Set("added", added)
      .Set("removed", removed)
      .Set("changed", changed)
      .Set("changes", std::move(list));
  invocation.text = absl::StrCat(DiffText(a, b, changes, invocation.style), Plural(changed, "node"),
                                 " changed, ", added, " added, ", removed, " removed; ",
                                 a.num_nodes(), " -> ", b.num_nodes(), "\n");
  return absl::OkStatus();
}

}  // namespace tenon::cli
