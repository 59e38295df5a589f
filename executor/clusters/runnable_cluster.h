// Runs a cluster: lowers and compiles it for each set of shapes, or for one that serves several,
// and falls back to ordinary kernels where that fails.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "executor/clusters/background_compiler.h"
#include "executor/clusters/cluster.h"
#include "executor/clusters/cluster_op.h"
#include "executor/clusters/cluster_options.h"
#include "executor/clusters/cluster_program.h"
#include "executor/clusters/open_dims.h"
#include "executor/clusters/padded_memory.h"

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

// What clusters of one graph share.
struct ClusterSurroundings {
  std::shared_ptr<WeightStore> weights = std::make_shared<WeightStore>();
  BackgroundCompiler compiler;
  OrdinaryKernelsFactory ordinary;
};

// An open dimension of an input, for reports.
struct OpenDimReport {
  std::string input;  // "x" or "x:1"
  int dimension = 0;
  std::string why_not;  // it is not padded; empty: it is
};

// What a cluster did so far, for reports.
struct ClusterRuns {
  int64_t programs = 0;     // compiled, each for a set of shapes
  int64_t compiling = 0;    // programs that are still being compiled
  int64_t runs = 0;         // of programs
  int64_t padded_runs = 0;  // those with an input that was padded
  // Of ordinary kernels: in the place of a program, to compare with one, or for the error of a
  // check that was not met.
  int64_t ordinary_runs = 0;
  // Why ordinary kernels last took a program's place; empty: they never did, unless it was still
  // being compiled.
  std::string reason;
  std::vector<OpenDimReport> open_dims;
};

class RunnableCluster;

// The state of a prepared step that runs a program.
struct ClusterStep {
  RunnableCluster* cluster = nullptr;
  std::shared_ptr<const ProgramFuture> program;
  std::vector<stablehlo::Argument> arguments;  // the inputs of the step
  std::vector<pjrt::BufferSpec> inputs, results;
  PaddedMemory padding;
};

// The node's kernel prepares and runs through this object, which outlives every plan. Thread-safe.
class RunnableCluster {
 public:
  // `surroundings` outlives this object.
  RunnableCluster(Cluster cluster, const ClusterOptions& options,
                  ClusterSurroundings& surroundings);

  const Cluster& cluster() const { return *cluster_; }
  const ClusterNumber& number() const { return number_; }
  ClusterRuns runs() const;

  // The kernel's two halves. Prepare compiles unless there is a program for these shapes and these
  // values of the cluster's constants; a compilation that failed is tried again for them only if it
  // lacked memory, time or the device. With ClusterOptions::buckets the program may be one for
  // larger shapes, if it is proved that the results are the same (FindPaddingFault). With
  // ClusterOptions::async Prepare lowers and leaves the rest to another thread; each run looks
  // whether the program is there. Prepare makes no 11th and no later program once the programs ran
  // less than 50 times each on average. If there is no program, or a run of one fails, ordinary
  // kernels run, and a warning says why, once for each reason; with XlaErrors::kFail it is an error
  // instead. A run after which the plug-in may still write the results (RunCompiled) is always an
  // error. While a program is still being compiled, ordinary kernels run without either. Each run
  // after the one that ClusterOptions::judge refused is a run that fails. A check that a run does
  // not meet is always an error: that of ordinary kernels or, if these succeed, that of the check;
  // but of a padded run the results of ordinary kernels are right if they succeed.
  absl::Status Prepare(tenon::Prepare& p);
  absl::Status RunStep(const ClusterStep& step, const StepArgs& args);
  absl::Status RunOrdinary(absl::Span<const pjrt::BufferSpec> inputs, const StepArgs& args);

 private:
  using Inputs = std::vector<stablehlo::Argument>;
  using Step = absl::StatusOr<std::shared_ptr<const ClusterStep>>;
  // A program with what the steps that use it need to know.
  struct MadeProgram {
    stablehlo::Program outline;  // results, and what FindPaddingFault needs
    std::shared_ptr<ProgramFuture> future = std::make_shared<ProgramFuture>();
  };
  using Made = absl::StatusOr<std::shared_ptr<const MadeProgram>>;
  // Inputs of a program that is proved to serve others, too.
  struct PaddedInputs {
    Inputs inputs;
    std::optional<stablehlo::Program> lowered;  // nothing if the program is made already
  };

  // Shapes of all inputs, and the bytes of those that decide shapes.
  static std::string SignatureOf(absl::Span<const stablehlo::Argument> inputs);

  Step StepFor(const tenon::Prepare& p);
  absl::StatusOr<Inputs> InputsOf(const tenon::Prepare& p) const;
  // These may be long: mutex_ is held while they lower and compile.
  Step MakeStep(Inputs inputs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A step that runs the program for `program_inputs` without padding. `lowered`: for these; null:
  // not yet.
  absl::StatusOr<std::shared_ptr<ClusterStep>> StepOf(const Inputs& inputs,
                                                      const Inputs& program_inputs,
                                                      stablehlo::Program* lowered)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Made ProgramOf(const Inputs& inputs, stablehlo::Program* lowered)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Made MakeProgram(const Inputs& inputs, stablehlo::Program* lowered)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // OK as long as another program may be made.
  absl::Status MayCompile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The inputs with as many open dimensions padded as can be; nothing if none can.
  std::optional<PaddedInputs> Pad(const Inputs& inputs, const stablehlo::Program& exact)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The inputs with these dimensions padded; else why they cannot be.
  absl::StatusOr<PaddedInputs> TryToPad(const Inputs& inputs, absl::Span<const InputDim> dims,
                                        const stablehlo::Program& exact)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteDims(absl::Span<const InputDim> dims, std::string_view why_not);
  std::string InputName(size_t input) const;

  absl::Status PrepareOrdinary(tenon::Prepare& p, const absl::Status& why);
  absl::Status RunProgram(const ClusterProgram& program, const ClusterStep& step,
                          const StepArgs& args);
  absl::StatusOr<std::vector<Tensor>> ComputeOrdinary(absl::Span<const pjrt::BufferSpec> inputs,
                                                      void* const* in);
  // Runs ordinary kernels in the place of a program. `why`: to be told.
  absl::Status Replace(const ClusterStep& step, const StepArgs& args,
                       const std::optional<absl::Status>& why);
  // Compares the results of a run, which are in args.out, with ordinary kernels. INTERNAL, with the
  // guilty node, if they differ: the program is wrong from then on. Errors of ordinary kernels say
  // nothing of the program, and another run is compared.
  absl::Status CompareRun(const ClusterProgram& program, const ClusterStep& step,
                          const StepArgs& args);
  absl::Status Named(const absl::Status& status) const;
  void NoteReason(const absl::Status& why);

  const ClusterNumber number_{*this};
  const std::shared_ptr<const Cluster> cluster_;
  const ClusterOptions options_;
  const Buckets buckets_;
  ClusterSurroundings& surroundings_;
  mutable absl::Mutex mutex_;  // one program is made at a time
  // By the shapes of the inputs, with the values of the constants: of steps, and of programs.
  absl::flat_hash_map<std::string, Step> steps_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Made> programs_ ABSL_GUARDED_BY(mutex_);
  OpenDims open_ ABSL_GUARDED_BY(mutex_);
  int64_t compilations_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status gave_up_ ABSL_GUARDED_BY(mutex_);  // not OK: no more programs are made
  std::unique_ptr<OrdinaryKernels> ordinary_ ABSL_GUARDED_BY(ordinary_mutex_);
  absl::Mutex ordinary_mutex_;
  mutable absl::Mutex reason_mutex_;
  std::string reason_ ABSL_GUARDED_BY(reason_mutex_);
  std::map<InputDim, std::string> dims_ ABSL_GUARDED_BY(reason_mutex_);  // why each is not padded
  std::atomic<int64_t> runs_{0}, padded_runs_{0}, ordinary_runs_{0};
};

}  // namespace tenon
