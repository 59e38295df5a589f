// What a TF_Session and a TF_DeprecatedSession have in common: state, devices, options and runs.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/api/base/session_config.h"
#include "executor/session/session.h"
#include "graph/c_api/c_api_internal.h"
#include "plugin/kernels/run_limits.h"

struct TF_SessionOptions {
  using Pool = tenon::Handles<TF_SessionOptions>;
  std::string target;  // "" for this process
  tenon::api::SessionConfig config;
};

namespace tenon::api {

// The arguments of one run but for its names. Arrays have a value for each input and output.
struct RunArguments {
  const TF_Buffer* options = nullptr;   // a RunOptions; null: none
  absl::Span<TF_Tensor* const> inputs;  // none is null or deleted
  absl::Span<TF_Tensor*> outputs;       // get new handles; the caller has set them to null
  // Gets a RunMetadata, also of a run that fails; null: not wanted. INVALID_ARGUMENT if it has
  // data.
  TF_Buffer* metadata = nullptr;
};

// Thread-safe, but for SetGraph, Prepare and Explained: one of them at a time. No call may be in
// progress when the object is destroyed.
class SessionCore {
 public:
  // Errors are those of CheckTarget, ProcessDevices and Session::Create.
  static absl::StatusOr<std::unique_ptr<SessionCore>> Make(const TF_SessionOptions& options);
  ~SessionCore();

  const SessionConfig& config() const { return config_; }
  absl::Span<Device* const> devices() const { return devices_; }
  // A random number of the session.
  uint64_t incarnation() const { return incarnation_; }
  Session& session() { return *session_; }

  // Runs fail from now on, and those that wait or loop end with CANCELLED.
  void Close() { closed_.store(true); }
  // Close for all sessions that the process has now.
  static void CloseAll();
  // CANCELLED if the session is closed.
  absl::Status CheckOpen() const;
  // The limits of a run whose own limit is `timeout`; 0: that of the session.
  RunLimits LimitsOf(absl::Duration timeout) const;

  // The graph of later calls of Prepare (Session::SetGraph). Logs where its nodes are placed, if
  // the options ask for it: those nodes that the former graph had not.
  void SetGraph(Graph graph);
  // Session::Prepare for runs that fetch or run something and fetch nothing that they feed:
  // INVALID_ARGUMENT with TensorFlow's messages, also for a placeholder that is not fed.
  absl::StatusOr<Executable*> Prepare(const std::vector<std::string>& feeds,
                                      const std::vector<std::string>& fetches);
  // TensorFlow's error where compiling has failed because a placeholder is not fed; else `status`.
  absl::Status Explained(const absl::Status& status) const;
  // Runs what Prepare has made, which may fetch more than there are outputs. An error leaves the
  // outputs null.
  absl::Status Run(Executable* executable, const RunArguments& arguments);

 private:
  SessionCore(SessionConfig config, std::vector<Device*> devices);
  void LogPlacement(const Graph& graph, NodeId first) const;
  absl::Status RunRecorded(Executable* executable, absl::Span<const Tensor> feeds,
                           const RunArguments& arguments);

  const SessionConfig config_;
  const std::vector<Device*> devices_;
  const uint64_t incarnation_;
  std::atomic<bool> closed_{false};
  RunLimits limits_;  // of a run without limits of its own
  std::unique_ptr<Session> session_;
};

// Whether sessions can run there. NOT_FOUND for an unknown target, UNIMPLEMENTED for one in a
// cluster.
absl::Status CheckTarget(std::string_view target);

// Checks what a run feeds and fetches, in the form "node:0"; targets are "^node". INVALID_ARGUMENT
// if it fetches nothing and has no target, feeds an output twice, or fetches what it feeds.
absl::Status CheckEnds(absl::Span<const std::string> feeds, absl::Span<const std::string> fetches);

}  // namespace tenon::api
