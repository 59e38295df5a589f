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

// A session of a TF_Graph, which it keeps alive. Thread-safe. Nodes that a program changes after
// the session has taken them stay as they were in the session, as in TensorFlow.
class GraphSession {
 public:
  // No call for a session may be made with the lock of its graph held.
  GraphSession(TF_Graph* graph, std::unique_ptr<SessionCore> core);
  ~GraphSession();

  SessionCore& core() { return *core_; }

  // Takes the nodes that the graph has got since.
  void Update();
  // The functions of c_api.h, with arguments that were checked for nulls.
  absl::Status Run(const RunEnds& ends, const RunArguments& arguments);
  absl::StatusOr<std::string> SetUpPartialRun(const RunEnds& ends);
  absl::Status ContinuePartialRun(const std::string& handle, const RunEnds& ends,
                                  const RunArguments& arguments);

 private:
  absl::StatusOr<EndNames> NamesOf(const RunEnds& ends) const;
  absl::StatusOr<Executable*> Prepare(const RunEnds& ends, RunKey key);
  void UpdateLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
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

// Whether the session, of one of the two types, is there and not deleted. Else sets
// INVALID_ARGUMENT. Sets `status` to OK first.
template <typename Session>
bool IsSession(const Session* session, TF_Status* status) {
  if (session == nullptr || WasDeleted(session)) [[unlikely]]
    return RefuseSession(session == nullptr, status);
  ClearStatus(status);
  return true;
}

}  // namespace tenon::api
