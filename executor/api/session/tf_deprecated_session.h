// The struct behind TF_DeprecatedSession.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/session/partial_runs.h"
#include "executor/api/session/session_core.h"
#include "executor/api/session/tf_session.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

// A session that owns its graph. Names are those of the C API: "node" (output 0), "node:1".
// Thread-safe.
class NamedSession {
 public:
  explicit NamedSession(std::unique_ptr<SessionCore> core)
      : core_(std::move(core)), partial_runs_(*core_) {}

  SessionCore& core() { return *core_; }

  // The work of TF_ExtendGraph, TF_Run, TF_PRunSetup and TF_PRun. The caller has checked the
  // arguments for nulls. names.inputs[i] is the name of arguments.inputs[i], and names.outputs[i]
  // that of arguments.outputs[i]. ContinuePartialRun reads neither names.targets (the targets are
  // those of SetUpPartialRun) nor arguments.options, and leaves arguments.metadata alone.
  //
  // CANCELLED if the session is closed. Extend: INVALID_ARGUMENT for a node that the graph has
  // already, else the errors of ImportGraphDef; the graph is then as it was. The others:
  // INVALID_ARGUMENT before the first Extend and for an unknown node, OUT_OF_RANGE for an output
  // that the node has not, NOT_FOUND for an unknown target, else the errors of SessionCore and
  // PartialRuns.
  struct Names {
    absl::Span<const char*const> inputs, outputs, targets;
  };
  absl::Status Extend(std::string_view graph_def);
  absl::Status Run(const Names& names, const RunArguments& arguments);
  absl::StatusOr<std::string> SetUpPartialRun(const Names& names);
  absl::Status ContinuePartialRun(const std::string& handle, const Names& names,
                                  const RunArguments& arguments);

 private:
  absl::StatusOr<EndNames> Resolve(const Names& names) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckNew(std::string_view graph_def) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<SessionCore> core_;
  PartialRuns partial_runs_;
  absl::Mutex mutex_;  // one run is prepared at a time
  bool has_graph_ ABSL_GUARDED_BY(mutex_) = false;
  // The bytes of all calls of Extend: protobuf merges messages that stand one behind the other.
  std::string graph_def_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::api

struct TF_DeprecatedSession {
  using Pool = tenon::Handles<TF_DeprecatedSession>;
  std::unique_ptr<tenon::api::NamedSession> made;  // not null
};
