// The stage Requested: what is asked for is there, and nothing of unknown ops is needed.
#include <utility>

#include "executor/compile/stages.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"

namespace tenon {
namespace {

bool HasUnknownOps(const Graph& graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && graph.op(n) == nullptr) return true;
  }
  return false;
}

// A node that is there for its fed output alone becomes a Placeholder.
absl::Status BecomePlaceholder(Graph& graph, NodeId n) {
  if (IsPlaceholder(graph, n)) return absl::OkStatus();
  if (graph.num_outputs(n) != 1) {
    return NodeError(
        graph, n,
        absl::UnimplementedError(
            "only one of its outputs is fed, and the graph holds ops that are unknown"));
  }
  const DataType dtype = BaseType(graph.output_type({n, 0}));
  graph.SetInputs(n, {}, {});
  graph.SetKind(n, "Placeholder", {{"dtype", attr::Type(dtype)}});
  return absl::OkStatus();
}

// What a node of an unknown op gives to others is unknown too. Such nodes go where the request does
// not need them, and with them everything else that the request does not need.
absl::Status DropUnknownOps(Requested& requested) {
  Graph& graph = requested.graph;
  if (!HasUnknownOps(graph)) return absl::OkStatus();
  const RunSet& run = requested.run;
  std::vector<bool> stays = run.needed;
  for (const Output& feed : requested.request.feeds) stays[feed.node] = true;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (run.needed[n] && graph.op(n) == nullptr) return UnknownOpError(graph, n);
  }
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || run.Runs(n)) continue;
    if (stays[n]) {
      TENON_RETURN_IF_ERROR(BecomePlaceholder(graph, n));
    } else {
      graph.RemoveNode(n);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Requested> RequestOf(const Graph& graph, const std::vector<std::string>& feeds,
                                    const std::vector<std::string>& fetches) {
  Requested requested{graph, {}, {}};
  Request& request = requested.request;
  TENON_ASSIGN_OR_RETURN(request, ResolveRequest(graph, feeds, fetches));
  // Before anything is spent: are all placeholders fed?
  TENON_ASSIGN_OR_RETURN(requested.run, FindRunSet(graph, request));
  TENON_RETURN_IF_ERROR(DropUnknownOps(requested));
  // A fed node that does not run now does not run either if a pass lets something wait for it.
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    if (!requested.run.Runs(request.feeds[i].node)) request.stands_for_node[i] = true;
  }
  return requested;
}

}  // namespace tenon
