// Notes the graphs of functions while they are compiled, for TFE_ContextExportRunMetadata.
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
  // Switched off, it forgets what it has. It begins switched off.
  void Switch(bool on);
  bool on() const { return on_.load(std::memory_order_relaxed); }
  // Notes one compiled graph, as it was given and as it came out of the passes; unless switched
  // off.
  void Note(const Graph& given, const Graph& optimized);
  // RunMetadata bytes of what was noted, which is forgotten.
  std::string Take();

 private:
  std::atomic<bool> on_{false};
  absl::Mutex mutex_;
  std::string metadata_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
