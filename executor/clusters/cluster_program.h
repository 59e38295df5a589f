// A cluster lowered and compiled for one set of shapes, with what a run of it needs.
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

// Immutable but for what runs find out.
struct ClusterProgram {
  // Where the results of the program are.
  enum class Where : uint8_t {
    kUnknown,  // no run has looked yet
    kHost,     // all in memory that the host can read
    kDevice,   // some have to be copied by the plug-in
  };

  struct Parameter {
    int input = -1;  // of those that the cluster was lowered for; -1: a weight
    std::shared_ptr<const pjrt::Buffer> weight;
    pjrt::BufferSpec spec;
    size_t staged_at = 0;  // of an input, in the staging memory of a run
  };
  std::shared_ptr<pjrt::Client> client;
  size_t index = 0;  // of the device, in the client
  std::shared_ptr<pjrt::Executable> executable;
  std::vector<Parameter> parameters;
  std::vector<pjrt::BufferSpec> results;  // of the cluster, then one flag for each check
  size_t num_results = 0;                 // of the cluster
  std::vector<size_t> results_staged_at;
  size_t staged_bytes = 0;  // of all inputs and results
  std::vector<stablehlo::Check> checks;
  mutable std::atomic<Where> where{Where::kUnknown};
  // With ClusterOptions::judge. compared: a run was or is being compared. wrong: that run differed,
  // as `difference` says, which is set before `wrong` and not after.
  mutable std::atomic<bool> compared{false}, wrong{false};
  mutable absl::Status difference;
};

// A program that is there, or is being compiled. Thread-safe.
class ProgramFuture {
 public:
  using Program = absl::StatusOr<std::shared_ptr<const ClusterProgram>>;

  // Null while the program is being compiled; the result does not change any more.
  const Program* Get() const {
    return is_set_.load(std::memory_order_acquire) ? &program_ : nullptr;
  }
  // At most once.
  void Set(Program program) {
    program_ = std::move(program);
    is_set_.store(true, std::memory_order_release);
  }

 private:
  Program program_;
  std::atomic<bool> is_set_{false};
};

// Where a cluster's programs are compiled and run.
struct ProgramTarget {
  std::shared_ptr<pjrt::Client> client;
  size_t index = 0;  // of the device, in the client
};
// Sets the time limit and the program folder of the client. Errors are those of ProgramDevice's
// functions.
absl::StatusOr<ProgramTarget> TargetOf(const Cluster& cluster, const ClusterOptions& options);

// `inputs`: one for each constant, with its value, then one for each argument. Errors are those of
// stablehlo::Lower.
absl::StatusOr<stablehlo::Program> LowerCluster(const Cluster& cluster,
                                                absl::Span<const stablehlo::Argument> inputs,
                                                const ClusterOptions& options, bool trace = false);
// Errors are those of Client::Compile, with the node of the line that the plug-in's message names,
// and those of uploads. Looks at the cluster's graph and name alone.
absl::StatusOr<std::shared_ptr<const ClusterProgram>> CompileCluster(
    const Cluster& cluster, const stablehlo::Program& lowered, const ProgramTarget& target,
    WeightStore& weights);

// Runs a program: uploads inputs, executes, and copies the results into `out`. `in` has one pointer
// for each input that the cluster was lowered for, `out` one for each result of the cluster.
// Returns when all is done. *failed must be null: it becomes the first check that was not met,
// which `program` owns, and stays null if there is none. A check that was not met is no error of
// the call. *in_use must be false: it becomes true, with DEADLINE_EXCEEDED, if the plug-in may
// still read `in` and write `out`, at any time.
absl::Status RunCompiled(const ClusterProgram& program, const Cluster& cluster, void* const* in,
                         void* const* out, const stablehlo::Check** failed, bool* in_use);

}  // namespace tenon
