// Divides the work of a partial run into phases. A phase is the work that some more inputs allow.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "executor/compile/request.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace tenon::api {

// By feed of the request: whether the input has been fed.
using FedSet = std::vector<bool>;

// The work that becomes possible when more inputs are fed. A phase fetches also the values that
// later phases read; these phases feed them.
struct Phase {
  Executable* executable = nullptr;    // runs the work; null: there is nothing to do
  std::vector<Output> feeds, fetches;  // of the executable, as outputs of the whole graph
};

// A graph with the inputs and outputs of partial runs. "Due" is a node whose computation the inputs
// so far allow. The nodes of a loop become due together. So do nodes that a Switch may skip and the
// nodes that read them. Not thread-safe.
class RunPhases {
 public:
  // Copies `graph`. `feeds` and `fetches`: all inputs and outputs of the partial runs, by names of
  // ResolveRequest. Errors are those of ResolveRequest and FindRunSet.
  static absl::StatusOr<std::unique_ptr<RunPhases>> Make(const Graph& graph,
                                                         const std::vector<std::string>& feeds,
                                                         const std::vector<std::string>& fetches);

  const Request& request() const { return request_; }

  // Whether the output is fed, or its node is due, when the inputs `fed` are fed. If not, sets
  // *missing to an input that the output needs and that is not fed.
  bool IsDue(Output output, const FedSet& fed, Output* missing) const;
  // The phase that computes the nodes that are due with the inputs `after` and were not due with
  // the inputs `before`. Null `before`: no phase has run, so it computes all nodes that are due.
  // Prepares the executable of the phase in `session`, which must be the same in all calls. A call
  // with the same sets returns the same phase, which lives as long as this object. Errors are those
  // of Session::PrepareOther; UNIMPLEMENTED if a node of this phase takes a reference that an
  // earlier phase has made.
  absl::StatusOr<const Phase*> Find(const FedSet* before, const FedSet& after, Session& session);

 private:
  class Builder;
  RunPhases(const Graph& graph, Request request, RunSet run);

  // Groups of nodes that come due together, producers first.
  void FindGroups();
  // By node: whether its values may be missing, or belong to a loop. No phase can keep them for a
  // later one.
  std::vector<bool> IsInside() const;
  // The feed that replaces the output; -1 if none does.
  int FeedOf(Output output) const;
  // Whether the node can be computed anew in each phase that reads it: constants, and handles of
  // what the session keeps by name.
  bool IsRepeated(NodeId n) const;
  std::vector<bool> Due(const FedSet& fed) const;
  bool IsReady(NodeId n, const FedSet& fed, const std::vector<bool>& due) const;

  const Graph graph_;
  const Request request_;
  const RunSet run_;
  const absl::flat_hash_map<Output, int> feed_of_;
  std::vector<std::vector<NodeId>> groups_;
  std::vector<size_t> group_of_;  // by node
  // By what was fed before the phase, nothing for the first one, and after it.
  std::map<std::pair<std::optional<FedSet>, FedSet>, Phase> phases_;
};

}  // namespace tenon::api
