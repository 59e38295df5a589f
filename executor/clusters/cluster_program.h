// A cluster compiled for one set of shapes, with what a run of it needs.
#pragma once

#include <atomic>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "executor/clusters/cluster.h"
#include "executor/clusters/cluster_options.h"
#include "executor/stablehlo/lower.h"
#include "plugin/pjrt/client.h"

namespace tenon {

class RunnableCluster;

// The constants that programs take as arguments, on their devices. Of each constant one buffer is
// kept. Thread-safe.
class WeightStore {
 public:
  // The buffer of constant `node` on the cluster's device, that of `index` in `client`; uploads
  // `value` at the first call. kNoNode, for a constant in a function's body, is uploaded at each
  // call, and the store does not keep its buffer. Errors are those of Client::Upload.
  absl::StatusOr<std::shared_ptr<const pjrt::Buffer>> Get(const Cluster& cluster,
                                                          pjrt::Client& client, size_t index,
                                                          NodeId node, const Tensor& value);
  // Of all constants whose buffers are kept.
  int64_t bytes() const;

 private:
  using Key = std::tuple<const pjrt::Client*, size_t, NodeId>;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<Key, std::shared_ptr<const pjrt::Buffer>> buffers_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The state of prepared steps. Immutable but for what runs find out.
struct ClusterProgram {
  // Where the results of the program are.
  enum class Where : uint8_t {
    kUnknown,  // no run has looked yet
    kHost,     // all in memory that the host can read
    kDevice,   // some have to be copied by the plug-in
  };

  struct Parameter {
    int input = -1;  // of the cluster's node; -1: a weight
    std::shared_ptr<const pjrt::Buffer> weight;
    pjrt::BufferSpec spec;
    size_t staged_at = 0;  // of an input, in the staging memory of a run
  };
  RunnableCluster* cluster = nullptr;  // null for a program that is run by hand
  std::shared_ptr<pjrt::Client> client;
  size_t index = 0;  // of the device, in the client
  std::shared_ptr<pjrt::Executable> executable;
  std::vector<Parameter> parameters;
  std::vector<pjrt::BufferSpec> inputs;   // of the node, for ordinary kernels
  std::vector<pjrt::BufferSpec> results;  // of the node, then one flag for each check
  size_t num_results = 0;                 // of the node
  std::vector<size_t> results_staged_at;
  size_t staged_bytes = 0;  // of all inputs and results
  std::vector<stablehlo::Check> checks;
  std::vector<stablehlo::Argument> arguments;  // that the cluster was lowered for
  mutable std::atomic<Where> where{Where::kUnknown};
  // With ClusterOptions::judge. compared: a run was or is being compared. wrong: that run differed,
  // as `difference` says, which is set before `wrong` and not after.
  mutable std::atomic<bool> compared{false}, wrong{false};
  mutable absl::Status difference;
};

// Lowers the cluster for these inputs and compiles it. `inputs`: one for each constant, with its
// value, then one for each argument. `runnable` becomes ClusterProgram::cluster, and may be null.
// Sets the time limit and the program folder of the device's client. Errors are those of
// stablehlo::Lower, of Client::Compile with the node of the line that the plug-in's message names,
// of ProgramDevice's functions and of uploads.
absl::StatusOr<std::shared_ptr<const ClusterProgram>> CompileCluster(
    const Cluster& cluster, std::vector<stablehlo::Argument> inputs, const ClusterOptions& options,
    WeightStore& weights, RunnableCluster* runnable);

// Runs a program: uploads inputs, executes, and copies the results into `out`. `in` has one pointer
// for each input of the node, `out` one for each result. Returns when all is done, or with
// DEADLINE_EXCEEDED: the plug-in may then still use `in` and `out`. *failed must be null: it
// becomes the first check that was not met, which `program` owns, and stays null if there is none.
// A check that was not met is no error of the call.
absl::Status RunCompiled(const ClusterProgram& program, const Cluster& cluster, void* const* in,
                         void* const* out, const stablehlo::Check** failed);

}  // namespace tenon
