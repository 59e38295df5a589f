// Runs of one executable that go on at once, on other devices each (PlacerOptions::spread). Private
// to executor/session/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "executor/session/executable.h"

namespace tenon {

// Deals numbers out so that each is in use as seldom as can be. Thread-safe.
class LeastBusy {
 public:
  explicit LeastBusy(size_t count) : uses_(count, 0) {}

  // The least number among those that are used least. Use ends with Give.
  size_t Take();
  void Give(size_t number);

 private:
  absl::Mutex mutex_;
  std::vector<int> uses_ ABSL_GUARDED_BY(mutex_);  // by number
};

// The placements of one graph: that of the executable that owns this object, and others, which
// begin at another device of each type (PlacerOptions::spread_from). The n-th run of those that go
// on at once takes the n-th placement. A placement is made when a run first needs it. Thread-safe.
class SpreadRuns {
 public:
  // Null if `owner` has all of its nodes on devices that are alone of their type. The arguments are
  // those of Executable::Make for `owner`, which must outlive the object.
  static std::unique_ptr<SpreadRuns> Make(Executable& owner, const Graph& graph,
                                          const std::vector<std::string>& feeds,
                                          const std::vector<std::string>& fetches,
                                          const SessionParts& parts);

  // Executable::RunAsPlaced of the owner or of another placement. If that one cannot be made, of
  // the owner.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> feeds, RunRecorder* recorder,
                                          const RunLimits* limits);

 private:
  // A placement that is not the owner's.
  struct Other {
    explicit Other(const SessionOptions& options) : options(options) {}
    SessionOptions options;  // of `executable`
    absl::Mutex mutex;
    bool is_made ABSL_GUARDED_BY(mutex) = false;
    std::unique_ptr<Executable> executable ABSL_GUARDED_BY(mutex);  // null: it could not be made
  };

  SpreadRuns(Executable& owner, const Graph& graph, std::vector<std::string> feeds,
             std::vector<std::string> fetches, const SessionParts& parts, size_t placements);
  Executable& At(size_t number);

  Executable& owner_;
  const Graph graph_;
  const std::vector<std::string> feeds_, fetches_;
  const SessionParts parts_;
  LeastBusy busy_;
  std::vector<std::unique_ptr<Other>> others_;
};

}  // namespace tenon
