// The common part of a TF_Session and a TF_DeprecatedSession: state, devices, options and runs.
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
  // Of TENON_SetThreadPool; null: those that `config` asks for.
  std::shared_ptr<tenon::Workers> workers;
};

namespace tenon::api {

// The arguments of one run, without the names of its inputs and outputs.
struct RunArguments {
  const TF_Buffer* options = nullptr;   // RunOptions bytes; null: none
  absl::Span<TF_Tensor* const> inputs;  // one for each input; none is null or deleted
  // One for each output, null before the run. The run sets them to new tensors, which the caller
  // owns; they stay null after an error.
  absl::Span<TF_Tensor*> outputs;
  // The run fills it with RunMetadata bytes, also if the run fails, unless `options` are refused.
  // Null: not wanted. INVALID_ARGUMENT if it is deleted or has data.
  TF_Buffer* metadata = nullptr;
};

// Thread-safe, except that only one call of SetGraph, Prepare or Explained may be in progress at a
// time. No call may be in progress when the object is destroyed.
class SessionCore {
 public:
  // Errors are those of CheckTarget, ProcessDevices and Session::Create.
  static absl::StatusOr<std::unique_ptr<SessionCore>> Make(const TF_SessionOptions& options);
  ~SessionCore();

  const SessionConfig& config() const { return config_; }
  absl::Span<Device* const> devices() const { return devices_; }
  // The `incarnation` for ListDevices.
  uint64_t incarnation() const { return incarnation_; }
  Session& session() { return *session_; }

  // Closes the session: CheckOpen fails from now on. Runs in progress end with CANCELLED while they
  // wait for another run or for an event of a device, before a pass of a loop, and between two
  // ranges of Workers::ParallelFor; runs with a timeout or a recording also after each step. Other
  // runs go on to their end.
  void Close() { closed_.store(true); }
  // Closes all sessions that the process has now.
  static void CloseAll();
  // CANCELLED if the session is closed. Callers ask this before they prepare or run; Prepare and
  // Run do not.
  absl::Status CheckOpen() const;
  // The limits of a run that begins now and may take `timeout`. 0 or less: the session's timeout.
  RunLimits LimitsOf(absl::Duration timeout) const;

  // Sets the graph of later calls of Prepare (Session::SetGraph). With
  // SessionConfig::log_placement, logs the devices of the nodes that the former graph did not have.
  void SetGraph(Graph graph);
  // CheckEnds and Session::Prepare. Errors are those of both and of CheckExecutorType.
  // INVALID_ARGUMENT, with TensorFlow's message, for a placeholder that is needed and not fed, and
  // for a placeholder that is a target, even if it is fed.
  absl::StatusOr<Executable*> Prepare(const std::vector<std::string>& feeds,
                                      const std::vector<std::string>& fetches);
  // TensorFlow's error if `status` says that a placeholder is needed and not fed; else `status`.
  absl::Status Explained(const absl::Status& status) const;
  // Runs an executable that Prepare returned. arguments.outputs are the first fetches of the
  // executable: it may have more fetches, such as the targets.
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

// OK if `target` (TF_SessionOptions::target) is this process. UNIMPLEMENTED for a target in a
// cluster, NOT_FOUND for any other one.
absl::Status CheckTarget(std::string_view target);

// Checks the names of what a run feeds and fetches: "node:0", or "^node" for a target in `fetches`.
// INVALID_ARGUMENT if `fetches` is empty, or if a name stands twice in `feeds` or in both lists.
absl::Status CheckEnds(absl::Span<const std::string> feeds, absl::Span<const std::string> fetches);

}  // namespace tenon::api
