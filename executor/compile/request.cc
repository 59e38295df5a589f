// Finds what a run needs by a walk from the fetches against the edges, which stops at fed outputs.

#include "executor/compile/request.h"

#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "grappler_lite/analysis/needed_arguments.h"

namespace tenon {
namespace {

// The payload of the error for a placeholder that is not fed: the placeholder's name.
constexpr char kUnfedKey[] = "tenon/unfed_placeholder";

absl::Status Unfed(const Graph& graph, NodeId n) {
  absl::Status status = absl::FailedPreconditionError(absl::StrCat(
      graph.Locate(n), ": nothing is fed to placeholder '", graph.name(n), "' (", graph.op_name(n),
      "), which the fetches need; feed a value of its dtype and shape"));
  status.SetPayload(kUnfedKey, absl::Cord(graph.name(n)));
  return status;
}

absl::Status Named(std::string_view role, std::string_view name, const absl::Status& status) {
  return Annotate(status, absl::StrCat(role, " '", name, "': "));
}

absl::StatusOr<Output> ResolveFeed(const Graph& graph, std::string_view name) {
  absl::StatusOr<Output> output = graph.ParseOutput(name);
  if (!output.ok()) return Named("feed", name, output.status());
  if (output->is_control() || output->port >= graph.num_outputs(output->node)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "feed '", name, "': there is no such output; node '", graph.name(output->node), "' (",
        graph.op_name(output->node), ") has ", graph.num_outputs(output->node)));
  }
  return output;
}

absl::StatusOr<Output> ResolveFetch(const Graph& graph, std::string_view name) {
  absl::StatusOr<Output> output = graph.ParseOutput(name);
  if (!output.ok()) {
    // A node without outputs can be fetched to run it.
    const NodeId n = graph.FindNode(name);
    if (n != kNoNode && graph.num_outputs(n) == 0) return Output{n, kControlPort};
    return Named("fetch", name, output.status());
  }
  if (!output->is_control() && graph.num_outputs(output->node) == 0) output->port = kControlPort;
  if (!output->is_control() && output->port >= graph.num_outputs(output->node)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "fetch '", name, "': node '", graph.name(output->node), "' (", graph.op_name(output->node),
        ") has ", graph.num_outputs(output->node), " outputs"));
  }
  return output;
}

}  // namespace

absl::StatusOr<Request> ResolveRequest(const Graph& graph, const std::vector<std::string>& feeds,
                                       const std::vector<std::string>& fetches) {
  Request request;
  request.feed_names = feeds;
  request.fetch_names = fetches;
  absl::flat_hash_set<Output> fed;
  for (const std::string& name : feeds) {
    TENON_ASSIGN_OR_RETURN(const Output feed, ResolveFeed(graph, name));
    if (!fed.insert(feed).second)
      return absl::InvalidArgumentError(absl::StrCat("feed '", name, "' is given twice"));
    request.feeds.push_back(feed);
    // As in TensorFlow, a node that waits for any other fed node waits for it all the same.
    request.stands_for_node.push_back(IsPlaceholder(graph, feed.node));
  }
  for (const std::string& name : fetches) {
    TENON_ASSIGN_OR_RETURN(const Output fetch, ResolveFetch(graph, name));
    request.fetches.push_back(fetch);
  }
  return request;
}

absl::StatusOr<RunSet> FindRunSet(const Graph& graph, const Request& request) {
  const int32_t count = graph.num_node_ids();
  const absl::flat_hash_set<Output> fed(request.feeds.begin(), request.feeds.end());
  std::vector<bool> replaced(count, false);
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    if (request.stands_for_node[i]) replaced[request.feeds[i].node] = true;
  }
  RunSet set;
  set.fed_only.resize(count, false);
  set.needed = NeededArguments(graph).NodesFor(request.fetches, [&](const Output& o) {
    // A feed that stands for its node leaves a control edge nothing to wait for.
    if (o.is_control()) return bool{replaced[o.node]};
    if (!fed.contains(o)) return false;
    set.fed_only[o.node] = true;
    return true;
  });
  for (NodeId n = 0; n < count; ++n) {
    if (set.needed[n] && IsPlaceholder(graph, n)) return Unfed(graph, n);
    set.fed_only[n] = set.fed_only[n] && !set.needed[n];
    set.needed[n] = set.needed[n] || set.fed_only[n];
  }
  return set;
}

NodeId UnfedPlaceholder(const Graph& graph, const absl::Status& status) {
  const std::optional<absl::Cord> name = status.GetPayload(kUnfedKey);
  return name.has_value() ? graph.FindNode(std::string(*name)) : kNoNode;
}

absl::StatusOr<std::vector<NodeId>> OrderOf(const Graph& graph, const RunSet& set) {
  TENON_ASSIGN_OR_RETURN(std::vector<NodeId> order, TopologicalOrder(graph));
  std::erase_if(order, [&](NodeId n) { return !set.needed[n]; });
  return order;
}

}  // namespace tenon
