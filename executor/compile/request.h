// What a run asks of a graph: outputs that are fed, outputs that are fetched. Names are resolved
// once: no pass gives a node another id.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon {

struct Request {
  std::vector<std::string> feed_names, fetch_names;  // as the caller wrote them
  std::vector<Output> feeds;                         // data outputs, each once
  std::vector<Output> fetches;                       // control port: run the node, no value
  // By feed: a node that waits for the fed node waits for nothing.
  std::vector<bool> stands_for_node;
};

// Names are "node" or "node:port". INVALID_ARGUMENT or NOT_FOUND names the feed or fetch that the
// graph does not have, or that is fed twice.
absl::StatusOr<Request> ResolveRequest(const Graph& graph, const std::vector<std::string>& feeds,
                                       const std::vector<std::string>& fetches);

// Which nodes a request needs, by node id.
struct RunSet {
  std::vector<bool> needed;    // fed nodes too
  std::vector<bool> fed_only;  // needed for their fed outputs alone: the run does not compute them

  bool Runs(NodeId n) const { return needed[n] && !fed_only[n]; }
};

// A fed output ends the search. FAILED_PRECONDITION names a placeholder that is needed and not fed.
absl::StatusOr<RunSet> FindRunSet(const Graph& graph, const Request& request);

// The needed nodes, producers first. INVALID_ARGUMENT if the graph has a cycle.
absl::StatusOr<std::vector<NodeId>> OrderOf(const Graph& graph, const RunSet& set);

}  // namespace tenon
