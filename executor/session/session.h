// A graph that is ready to run. It is placed and optimized once for each pair of lists of feeds and
// fetches, and planned for the shapes of the feeds. The plans that were used last are kept.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/compile/session_options.h"
#include "executor/session/reports.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"
#include "plugin/device/device.h"

namespace tenon {

// The compiled form of one (feeds, fetches) pair. executor/session/reports.h reports on it.
class Executable;
class FixedVariables;   // executor/state/fixed_variables.h
class ResourceManager;  // plugin/kernels/resource.h
class RunRecorder;      // executor/run/run_recorder.h
struct RunLimits;       // plugin/kernels/run_limits.h

// Thread-safe: many runs may go on at once, each with its own frame of buffers. No call may be in
// progress when the session is destroyed.
class Session {
 public:
  using NamedTensor = std::pair<std::string, Tensor>;

  // The session keeps pointers to `devices`: the caller owns the devices, which must outlive the
  // session. Their plug-ins stay loaded meanwhile. If no device is the host, the session makes a
  // CPU of its own and puts it first. INVALID_ARGUMENT: options.threads is negative,
  // options.device_streams is not from 1 to kMostComputeStreams, or the environment variable that
  // chooses the instruction set is wrong.
  static absl::StatusOr<std::unique_ptr<Session>> Create(Graph graph, std::vector<Device*> devices,
                                                         SessionOptions options);
  ~Session();

  // Prepares feeds and fetches (names as in ResolveRequest) for many runs: optimizes and places. A
  // second call with equal lists, in equal order, returns the same executable. The session owns the
  // executable, which lives as long as the session. A failure is not kept: the next call tries
  // again. Errors are those of Compile, and FAILED_PRECONDITION if a fetch may change a fixed
  // variable. They name the feed, the fetch or the node, if one is at fault. One executable is made
  // at a time; other callers that need a new one wait.
  absl::StatusOr<Executable*> Prepare(const std::vector<std::string>& feeds,
                                      const std::vector<std::string>& fetches);

  // Runs `executable`, which must be of this session, on the calling thread and the threads of the
  // session (SessionOptions::inter_op). `feeds` are in host memory, in the order that Prepare
  // was given. Returns the values of the fetches in order, in host memory; an uninitialized tensor
  // for a node that only runs. INVALID_ARGUMENT for a wrong number of feeds, for a feed without a
  // value or with a type or shape that contradicts the graph, and for a fetch in a branch that was
  // not taken. UNIMPLEMENTED if the graph was optimized for TensorFlow and cannot run here. Errors
  // of nodes name the node; of several nodes that fail, the first one in the graph's order.
  // `recorder` may be null; otherwise it records when each step ran. `limits` may be null, which
  // stands for the defaults; DEADLINE_EXCEEDED and CANCELLED are as Executable::Run says.
  absl::StatusOr<std::vector<Tensor>> Run(Executable* executable, absl::Span<const Tensor> feeds,
                                          RunRecorder* recorder = nullptr,
                                          const RunLimits* limits = nullptr);
  // Prepare and Run in one call. Looks the executable up by name in each call.
  absl::StatusOr<std::vector<Tensor>> Run(const std::vector<NamedTensor>& feeds,
                                          const std::vector<std::string>& fetches);

  // Prepares `graph`, in the place of the session's graph, for many runs. A node has the state of
  // the session's node with the same name. Each call makes a new executable, which the session owns
  // too. Must not be called after FixVariables: `graph` has other nodes under the ids of the fixed
  // variables. Errors are those of Compile.
  absl::StatusOr<Executable*> PrepareOther(const Graph& graph,
                                           const std::vector<std::string>& feeds,
                                           const std::vector<std::string>& fetches);

  // `entries`: all nodes or outputs that will run ("node", "node:1" or "^node"); unknown names are
  // skipped. Fixes the variables that a run of them needs and does not change (UseOfVariables), at
  // the values that they have now. Executables that are prepared later read constants in the place
  // of these variables, and Prepare refuses a new executable that would change one of them
  // (FAILED_PRECONDITION). Executables that were prepared before must not change them any more; no
  // run may change them during the call. A variable that FixedVariables::Make gives no constant
  // stays a variable. With opt_level 0 every call does nothing and returns OK. Else a call after
  // one that succeeded is FAILED_PRECONDITION; other errors are those of FixedVariables::Make,
  // after which nothing is fixed. Only right if nodes and functions of this graph alone change its
  // variables, and if no two nodes of the graph stand for one variable.
  absl::Status FixVariables(absl::Span<const std::string> entries);
  // The result of FixVariables; null if there is none. The session owns it, and never changes it.
  const FixedVariables* fixed_variables() const;

  // Makes `graph` the graph of later calls of Prepare; what was prepared stays as it is. `graph`
  // must hold the nodes of the former graph under their ids and names, and may hold more nodes and
  // functions. So variables and other state stay. No reference that graph() gave may be in use.
  void SetGraph(Graph graph);

  // The graph that Create was given, or SetGraph last.
  const Graph& graph() const;
  // The threads of the CPU, which all runs of the session share; at least 1.
  int threads() const;
  // The threads of the session, for SessionOptions::workers of others. Never null.
  std::shared_ptr<Workers> workers() const;
  // The files that kernels may read and write.
  const FileAccess& files() const;
  // The variables, tables and queues that runs keep by name.
  ResourceManager& resources();

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon
