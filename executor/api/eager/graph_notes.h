// Collects the graphs of functions as they are compiled, and the times of their runs, for
// TFE_ContextExportRunMetadata.
// Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "executor/run/run_recorder.h"
#include "graph/ir/graph.h"

namespace tenon::eager {

// Thread-safe.
class GraphNotes {
 public:
  // Switches the collection on, with times of runs or without, or off. To switch it off drops all
  // notes; to switch it on again keeps them. Without `on`, `times` means nothing. A new object is
  // off.
  void Switch(bool on, bool times);
  bool on() const { return on_.load(std::memory_order_relaxed); }
  bool times() const { return times_.load(std::memory_order_relaxed); }
  // Notes one compiled graph, before and after the passes. Does nothing while switched off.
  void Note(const Graph& given, const Graph& optimized);
  // Notes the times of a run, which must be over. Does nothing while times are off. Also does
  // nothing if the run would bring the number of steps noted since the last Take, or since the
  // collection was last switched off, above RunRecorder::kMaxSteps (2^20).
  void Note(const RunRecorder& run);
  // Returns all notes as RunMetadata bytes, and drops them.
  std::string Take();

 private:
  std::atomic<bool> on_{false}, times_{false};
  absl::Mutex mutex_;
  std::string metadata_ ABSL_GUARDED_BY(mutex_);
  size_t steps_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon::eager
