// The stage Requested: feeds and fetches exist, and the request needs no node of an unknown op.
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

// Makes a node that the request needs for its fed output alone a Placeholder: its inputs may be
// among the nodes that go.
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

// By node id: whether the node runs, or nodes that run read it, even without need: arguments of
// branches and loops. The search does not go behind nodes of `given`.
std::vector<bool> ReadNodes(const Graph& graph, const RunSet& run, const std::vector<bool>& given) {
  std::vector<bool> read(graph.num_node_ids(), false);
  std::vector<NodeId> open;
  const auto put = [&](NodeId n) {
    if (read[n] || given[n]) return;
    read[n] = true;
    open.push_back(n);
  };
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (run.Runs(n)) put(n);
  }
  while (!open.empty()) {
    const NodeId n = open.back();
    open.pop_back();
    for (const Output& in : graph.inputs(n)) put(in.node);
  }
  return read;
}

// Removes nodes of unknown ops. The types that such a node gives its readers are unknown, too, so
// the readers cannot stay in any case; if the graph has such a node, everything that nobody reads
// for the request is removed.
absl::Status DropUnknownOps(Requested& requested) {
  Graph& graph = requested.graph;
  if (!HasUnknownOps(graph)) return absl::OkStatus();
  const RunSet& run = requested.run;
  std::vector<bool> given(graph.num_node_ids(), false);
  for (const Output& feed : requested.request.feeds) given[feed.node] = !run.Runs(feed.node);
  const std::vector<bool> read = ReadNodes(graph, run, given);
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if ((read[n] || run.needed[n]) && graph.op(n) == nullptr) return UnknownOpError(graph, n);
  }
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    if (given[n]) {
      TENON_RETURN_IF_ERROR(BecomePlaceholder(graph, n));
    } else if (!read[n]) {
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
  // Fails for a placeholder that is not fed before the passes have spent any time.
  TENON_ASSIGN_OR_RETURN(requested.run, FindRunSet(graph, request));
  TENON_RETURN_IF_ERROR(DropUnknownOps(requested));
  // A fed node that does not run now must not run because a pass lets another node wait for it.
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    if (!requested.run.Runs(request.feeds[i].node)) request.stands_for_node[i] = true;
  }
  return requested;
}

}  // namespace tenon
