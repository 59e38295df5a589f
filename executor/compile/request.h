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
  std::vector<Output> feeds;                         // data outputs, no output twice
  std::vector<Output> fetches;                       // control port: run the node, fetch no value
  // By feed: whether the feed replaces the whole node, so that a control edge from the fed node is
  // no reason to run it. ResolveRequest sets it for placeholders alone.
  std::vector<bool> stands_for_node;
};

// Resolves names. "node:port" is a data output; "node" is port 0. A fetch may also be "^node", or
// "node" for a node without outputs: both run the node and fetch no value. One output may be
// fetched several times. NOT_FOUND for a node that the graph has not. INVALID_ARGUMENT for a port
// that the node has not, for "^node" as a feed, and if one output is fed twice. Errors name the
// feed or fetch.
absl::StatusOr<Request> ResolveRequest(const Graph& graph, const std::vector<std::string>& feeds,
                                       const std::vector<std::string>& fetches);

// The nodes that a request needs. Both vectors are by node id.
struct RunSet {
  std::vector<bool> needed;    // a fetch needs the node to run, or needs a fed output of it
  std::vector<bool> fed_only;  // needed for its fed outputs alone: the run does not compute it

  // Whether the run computes node n.
  bool Runs(NodeId n) const { return needed[n] && !fed_only[n]; }
};

// Searches from the fetches to their producers, as NeededArguments does: a branch or loop that is
// marked to be written out needs only those arguments that its readers need. A fed output ends the
// search, and so does a control edge from a node that a feed stands for. FAILED_PRECONDITION names
// the first placeholder of the graph that is needed and not fed.
absl::StatusOr<RunSet> FindRunSet(const Graph& graph, const Request& request);
// The placeholder of that error, also once the error has been annotated; kNoNode for any other
// status.
NodeId UnfedPlaceholder(const Graph& graph, const absl::Status& status);

// The needed nodes, fed_only ones too, producers first; an edge into a fed node counts like any
// other. INVALID_ARGUMENT if the graph has a cycle other than through a NextIteration, among needed
// nodes or others.
absl::StatusOr<std::vector<NodeId>> OrderOf(const Graph& graph, const RunSet& set);

}  // namespace tenon
