// Collects the graphs of functions as they are compiled, for TFE_ContextExportRunMetadata.
// Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "graph/ir/graph.h"

namespace tenon::eager {

// Thread-safe.
class GraphNotes {
 public:
  // Switches the collection on or off; off also drops all notes. A new object is off.
  void Switch(bool on);
  bool on() const { return on_.load(std::memory_order_relaxed); }
  // Notes one compiled graph, before and after the passes. Does nothing while switched off.
  void Note(const Graph& given, const Graph& optimized);
  // Returns all notes as RunMetadata bytes, and drops them.
  std::string Take();

 private:
  std::atomic<bool> on_{false};
  absl::Mutex mutex_;
  std::string metadata_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
