// Cuts the work of a partial run into phases: what can be computed once some inputs are fed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "executor/compile/request.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace tenon::api {

// By feed of the request: whether it has been fed.
using FedSet = std::vector<bool>;

// The work that comes due when more inputs are fed. `executable` runs it; null: there is none.
// Values that later phases read are fetched, and fed there.
struct Phase {
  Executable* executable = nullptr;
  std::vector<Output> feeds, fetches;  // of the executable, as outputs of the whole graph
};

// A graph with the inputs and outputs of partial runs. A loop comes due as a whole; so do nodes
// that may be skipped and those that read them. Not thread-safe.
class RunPhases {
 public:
  // Copies `graph`. Errors are those of ResolveRequest and FindRunSet.
  static absl::StatusOr<std::unique_ptr<RunPhases>> Make(const Graph& graph,
                                                         const std::vector<std::string>& feeds,
                                                         const std::vector<std::string>& fetches);

  const Request& request() const { return request_; }

  // Whether the output can be computed, or is fed. If not, `missing` gets an input that is not fed
  // and that the output needs.
  bool IsDue(Output output, const FedSet& fed, Output* missing) const;
  // The phase with `after` in which what was due with `before` is done. A null `before`: no phase
  // has run, so that nothing is done. The phase lives as long as this object. Makes an executable
  // in `session`, which must be the same in all calls, and returns the same for the same sets.
  // Errors are those of Session::PrepareOther; UNIMPLEMENTED for a reference that a later phase
  // would write to.
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
  std::map<std::pair<FedSet, FedSet>, Phase> phases_;
};

}  // namespace tenon::api
