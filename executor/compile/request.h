// The outputs of a graph that a run feeds and fetches. Names are resolved once, since no pass
// changes a node's id.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon {

// Feeds and fetches, in the order of the caller.
struct Request {
  std::vector<std::string> feed_names, fetch_names;  // as the caller wrote them
  std::vector<Output> feeds;                         // data outputs, each once
  std::vector<Output> fetches;                       // control port: run the node, fetch no value
  // By feed: whether the feed replaces the whole node, so that a control edge from the fed node is
  // no reason to run it.
  std::vector<bool> stands_for_node;
};

// Resolves names of the form "node" or "node:port". INVALID_ARGUMENT or NOT_FOUND if the graph has
// no such output, or if one output is fed twice; names the feed or fetch.
absl::StatusOr<Request> ResolveRequest(const Graph& graph, const std::vector<std::string>& feeds,
                                       const std::vector<std::string>& fetches);

// The nodes that a request needs. Both vectors are by node id.
struct RunSet {
  std::vector<bool> needed;    // fed nodes too
  std::vector<bool> fed_only;  // only fed outputs are needed: the run does not compute the node

  // Whether the run computes node n.
  bool Runs(NodeId n) const { return needed[n] && !fed_only[n]; }
};

// Searches from the fetches to their producers; a fed output ends the search. FAILED_PRECONDITION
// names a placeholder that is needed and not fed.
absl::StatusOr<RunSet> FindRunSet(const Graph& graph, const Request& request);

// The needed nodes, producers first. INVALID_ARGUMENT if the graph has a cycle.
absl::StatusOr<std::vector<NodeId>> OrderOf(const Graph& graph, const RunSet& set);

}  // namespace tenon
