// Runs a cluster: lowers and compiles it for each set of shapes, and falls back to ordinary kernels
// where that fails.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "executor/clusters/cluster.h"
#include "executor/clusters/cluster_options.h"
#include "executor/clusters/cluster_program.h"

namespace tenon {

class Prepare;    // plugin/kernels/kernel.h
struct StepArgs;  // plugin/kernels/run_fn.h

// Computes a cluster with the kernels of the host. Thread-safe.
class OrdinaryKernels {
 public:
  virtual ~OrdinaryKernels() = default;
  // `inputs`: the cluster's constants, then its arguments, in host memory. Returns its results.
  virtual absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs) = 0;
};
using OrdinaryKernelsFactory =
    std::function<absl::StatusOr<std::unique_ptr<OrdinaryKernels>>(const Cluster& cluster)>;

// What a cluster did so far, for reports.
struct ClusterRuns {
  int64_t programs = 0;  // compiled, each for a set of shapes
  int64_t runs = 0;      // of programs
  // Of ordinary kernels: in the place of a program, to compare with one, or for the error of a
  // check that was not met.
  int64_t ordinary_runs = 0;
  std::string reason;  // why ordinary kernels last took a program's place; empty: they never did
};

// The node's kernel prepares and runs through this object, which outlives every plan. Thread-safe.
class RunnableCluster {
 public:
  // `weights` may be shared by clusters of one graph, and must outlive this object.
  RunnableCluster(Cluster cluster, const ClusterOptions& options, WeightStore& weights,
                  OrdinaryKernelsFactory ordinary);

  const Cluster& cluster() const { return cluster_; }
  ClusterRuns runs() const;

  // The kernel's two halves. Prepare compiles unless there is a program for these shapes and these
  // values of the cluster's constants; a compilation that failed is tried again for them only if it
  // lacked memory, time or the device. It makes no 11th and no later program while the programs ran
  // less than 50 times each on average. If there is no program, or a run of one fails, ordinary
  // kernels run, and a warning says why, once for each reason; with XlaErrors::kFail it is an error
  // instead. Each run after the one that ClusterOptions::judge refused is such a run. A check that
  // a run does not meet is always an error: that of ordinary kernels or, if these succeed, that of
  // the check.
  absl::Status Prepare(tenon::Prepare& p);
  absl::Status RunProgram(const ClusterProgram& program, const StepArgs& args);
  absl::Status RunOrdinary(absl::Span<const pjrt::BufferSpec> inputs, const StepArgs& args);

 private:
  using Program = absl::StatusOr<std::shared_ptr<const ClusterProgram>>;

  Program ProgramFor(const tenon::Prepare& p);
  Program MakeProgram(const tenon::Prepare& p);
  absl::Status PrepareOrdinary(tenon::Prepare& p, const absl::Status& why);
  absl::StatusOr<std::vector<Tensor>> ComputeOrdinary(absl::Span<const pjrt::BufferSpec> inputs,
                                                      void* const* in);
  // Runs ordinary kernels in the place of a program whose run failed. `why`: to be told.
  absl::Status Replace(const ClusterProgram& program, const StepArgs& args,
                       const std::optional<absl::Status>& why);
  // Compares the results of a run, which are in args.out, with ordinary kernels. INTERNAL, with the
  // guilty node, if they differ: the program is wrong from then on. Errors of ordinary kernels say
  // nothing of the program, and another run is compared.
  absl::Status CompareRun(const ClusterProgram& program, const StepArgs& args);
  absl::Status Named(const absl::Status& status) const;
  void NoteReason(const absl::Status& why);

  const Cluster cluster_;
  const ClusterOptions options_;
  WeightStore& weights_;
  const OrdinaryKernelsFactory make_ordinary_;
  absl::Mutex mutex_;  // one program is made at a time
  absl::flat_hash_map<std::string, Program> programs_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<OrdinaryKernels> ordinary_ ABSL_GUARDED_BY(ordinary_mutex_);
  absl::Mutex ordinary_mutex_;
  mutable absl::Mutex reason_mutex_;
  std::string reason_ ABSL_GUARDED_BY(reason_mutex_);
  std::atomic<int64_t> programs_made_{0}, runs_{0}, ordinary_runs_{0};
};

}  // namespace tenon
