// A graph made ready to run: placed, optimized once per set of feeds and fetches, planned once per
// input signature.
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

// What was made of one (feeds, fetches) pair.
class Executable;
class FixedVariables;   // executor/state/fixed_variables.h
class ResourceManager;  // plugin/kernels/resource.h
class RunRecorder;      // executor/run/run_recorder.h

// Thread-safe: many runs at once, each with its own frame.
class Session {
 public:
  using NamedTensor = std::pair<std::string, Tensor>;

  static absl::StatusOr<std::unique_ptr<Session>> Create(Graph graph, std::vector<Device*> devices,
                                                         SessionOptions options);
  ~Session();

  // Prepares feeds ("node" or "node:port") and fetches for many runs: optimizes and places. Cached;
  // the pointer lives as long as the session. Errors name the feed or fetch, or the Placeholder
  // that is missing (FAILED_PRECONDITION).
  absl::StatusOr<Executable*> Prepare(const std::vector<std::string>& feeds,
                                      const std::vector<std::string>& fetches);

  // One run. Values of the fetches in order, in host memory. Feed dtypes and shapes are checked
  // against the graph's. `recorder`, if there is one, learns when each step ran.
  absl::StatusOr<std::vector<Tensor>> Run(Executable* executable, const std::vector<Tensor>& feeds,
                                          RunRecorder* recorder = nullptr);
  // Both in one.
  absl::StatusOr<std::vector<Tensor>> Run(const std::vector<NamedTensor>& feeds,
                                          const std::vector<std::string>& fetches);

  // Variables that none of these nodes or outputs may change stay as they are from now on: what is
  // prepared reads constants in their place, and cannot change them (FAILED_PRECONDITION). What
  // was prepared before must not change them any more. A session without an optimizer (opt_level
  // 0) leaves them. For graphs whose functions and nodes are all that change their variables.
  absl::Status FixVariables(absl::Span<const std::string> entries);
  // Null before that.
  const FixedVariables* fixed_variables() const;

  // The graph as given.
  const Graph& graph() const;
  // Of the CPU, which its runs share.
  int threads() const;
  // What its kernels may read and write.
  const FileAccess& files() const;
  // What its runs remember by name: variables, tables, queues.
  ResourceManager& resources();

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon
