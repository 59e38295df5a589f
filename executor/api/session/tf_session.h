// The struct behind TF_Session.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/graph/tf_graph.h"
#include "executor/api/session/partial_runs.h"
#include "executor/api/session/run_table.h"
#include "executor/api/session/session_core.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

// A session of a TF_Graph, which it keeps alive. The session runs a copy of the graph, to which it
// adds new nodes. If a program changes a node that the copy has already, the copy keeps the node as
// it was, as in TensorFlow. Thread-safe. The caller must not hold graph->mutex in any call.
class GraphSession {
 public:
  GraphSession(TF_Graph* graph, std::unique_ptr<SessionCore> core);
  ~GraphSession();

  SessionCore& core() { return *core_; }
  TF_Graph* graph() { return graph_; }

  // Adds the nodes that are new in the graph to the session's copy. Each call that prepares a run
  // does so too. INVALID_ARGUMENT if a new node has a name that no node may have; the session then
  // takes none of them.
  absl::Status Update();
  // The work of TF_SessionRun, TF_SessionPRunSetup and TF_SessionPRun. The caller has checked the
  // arguments for nulls. CANCELLED if the session is closed; INVALID_ARGUMENT for a negative index
  // and for a target of another graph. Other errors are those of OutputOf, Update, SessionCore and
  // PartialRuns. ContinuePartialRun reads neither ends.targets nor arguments.options, and leaves
  // arguments.metadata alone.
  absl::Status Run(const RunEnds& ends, const RunArguments& arguments);
  absl::StatusOr<std::string> SetUpPartialRun(const RunEnds& ends);
  absl::Status ContinuePartialRun(const std::string& handle, const RunEnds& ends,
                                  const RunArguments& arguments);

 private:
  absl::StatusOr<EndNames> NamesOf(const RunEnds& ends) const;
  absl::StatusOr<Executable*> Prepare(const RunEnds& ends, RunKey key);
  absl::Status UpdateLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckNames(const Graph& graph) const;
  void FreezeChanged() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_)
      ABSL_SHARED_LOCKS_REQUIRED(graph_->mutex);

  TF_Graph* const graph_;
  const std::unique_ptr<SessionCore> core_;
  RunTable runs_;
  PartialRuns partial_runs_;

  absl::Mutex mutex_;  // one run is prepared at a time
  // TF_Graph::version of the graph that the session has; -1: none yet.
  int64_t version_ ABSL_GUARDED_BY(mutex_) = -1;
  size_t changes_seen_ ABSL_GUARDED_BY(mutex_) = 0;  // of TF_Graph::changed
  // Nodes that the graph has changed since the session took them.
  std::vector<NodeId> frozen_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::api

struct TF_Session {
  using Pool = tenon::Handles<TF_Session>;
  std::unique_ptr<tenon::api::GraphSession> made;  // not null
};

namespace tenon::api {

// Sets INVALID_ARGUMENT for a session that is null or deleted. Returns false.
bool RefuseSession(bool is_null, TF_Status* status);

// Whether the session, of one of the two types, is there and not deleted. Sets `status` to OK if it
// is, else to INVALID_ARGUMENT.
template <typename Session>
bool IsSession(const Session* session, TF_Status* status) {
  if (session == nullptr || WasDeleted(session)) [[unlikely]]
    return RefuseSession(session == nullptr, status);
  ClearStatus(status);
  return true;
}

}  // namespace tenon::api
