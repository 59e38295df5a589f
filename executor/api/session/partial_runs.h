// Partial runs: several calls give the inputs of one run and take its outputs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "executor/api/session/run_phases.h"
#include "executor/api/session/session_core.h"

namespace tenon::api {

// The names of what a run feeds and fetches: "node:0". A fetch "^node" runs the node and has no
// value.
struct EndNames {
  std::vector<std::string> feeds, fetches;
  friend auto operator<=>(const EndNames&, const EndNames&) = default;
};

// The partial runs of a session. As in TensorFlow, each call computes everything that the inputs so
// far allow. A run ends when it has all its inputs and has returned all its outputs, or when its
// computation fails. A run that is never finished is kept as long as this object. An output that
// SetUp got twice counts once. Thread-safe; calls for one run take turns.
class PartialRuns {
 public:
  // `core` must outlive this object.
  explicit PartialRuns(SessionCore& core) : core_(core) {}

  // Sets a run of the session's present graph up, and returns its handle. `ends` are all inputs and
  // outputs of the run. Computes nothing. SetUp must not run while a call of SessionCore::SetGraph,
  // Prepare or Explained is in progress. Errors are those of CheckEnds, CheckExecutorType and
  // RunPhases::Make, but for a placeholder that `ends` do not feed: as in TensorFlow, the run then
  // fails when it begins.
  absl::StatusOr<std::string> SetUp(const EndNames& ends);
  // Feeds `inputs`, the values of ends.feeds, computes what they allow, and sets `outputs` to the
  // values of ends.fetches: new tensors, which the caller owns. An input may stand twice in one
  // call: its first value counts. INVALID_ARGUMENT, with TensorFlow's messages, if no run has this
  // handle, if SetUp did not get an input or output, if an earlier call had it, or if an output
  // needs an input that was not fed; the run is then unchanged. Any other error ends the run, also
  // INVALID_ARGUMENT for a placeholder that SetUp has let pass. An input of a wrong type is taken,
  // as in TensorFlow, and then nothing more is computed. INTERNAL is the result of the first call,
  // that call included, that asks for an output or leaves no input and no output of the run open.
  // `outputs` is unchanged after an error.
  absl::Status Continue(const std::string& handle, const EndNames& ends,
                        absl::Span<TF_Tensor* const> inputs, absl::Span<TF_Tensor*> outputs);

 private:
  // The phases of all runs that are set up alike.
  struct Setup {
    Setup(std::unique_ptr<RunPhases> p, TypeVector types)
        : feed_types(std::move(types)), phases(std::move(p)) {}
    explicit Setup(absl::Status s) : status(std::move(s)) {}
    absl::Mutex mutex;
    const absl::Status status;    // why no run can begin; OK: there are phases
    const TypeVector feed_types;  // by feed of the request
    const std::unique_ptr<RunPhases> phases ABSL_PT_GUARDED_BY(mutex);
  };
  struct Run {
    Run(std::shared_ptr<Setup> s, const EndNames& ends);
    const std::shared_ptr<Setup> setup;
    absl::Mutex mutex;
    absl::Status status ABSL_GUARDED_BY(mutex);      // why the run cannot go on
    absl::Status wrong_feed ABSL_GUARDED_BY(mutex);  // what the next call for an output returns
    bool has_begun ABSL_GUARDED_BY(mutex) = false;
    FedSet fed ABSL_GUARDED_BY(mutex);
    std::vector<bool> fetched ABSL_GUARDED_BY(mutex);                   // by fetch of the request
    absl::flat_hash_map<Output, Tensor> values ABSL_GUARDED_BY(mutex);  // fed and computed
  };
  // What one call brings, in places of the request, and the outputs that these are.
  struct Call {
    std::vector<size_t> feeds, fetches;
    std::vector<Output> fed, fetched;
  };

  absl::StatusOr<std::shared_ptr<Setup>> SetupFor(const EndNames& ends)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<Run> Find(const std::string& handle);
  void End(const std::string& handle, Run& run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(run.mutex);
  static absl::StatusOr<Call> Read(Run& run, const EndNames& ends)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(run.mutex);
  // Takes the inputs of a call, and returns which the run then has.
  static FedSet Feed(Run& run, const Call& call, const EndNames& ends,
                     absl::Span<TF_Tensor* const> inputs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(run.mutex);
  absl::Status RunPhase(Run& run, const FedSet& fed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(run.mutex);

  SessionCore& core_;
  absl::Mutex mutex_;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<EndNames, std::shared_ptr<Setup>> setups_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::shared_ptr<Run>> runs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::api
