// The large arenas of a session, which all of its plans share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Lends arenas to frames for the time of a run. So a session holds as many arenas as runs were
// under way at once, each as large as its largest user needed, however many plans it keeps. After
// every kWindow runs the pool frees as many arenas as were idle at all times during these runs,
// those that came back longest ago. It also frees idle arenas of more than twice the largest size
// that any of these runs asked for. Thread-safe.
class ArenaPool {
 public:
  static constexpr int64_t kWindow = 1024;
  // A frame keeps an arena of up to so many bytes for itself: many plans of this size take little
  // memory, and their runs are so short that the pool's lock would count.
  static constexpr uint64_t kOwnBytes = 64 << 10;

  // Hands out an arena of at least `bytes` bytes with undefined contents, aligned to
  // kTensorAlignment: the one at address `before` (null: any) if it is idle and large enough, else
  // the idle one that was used last of those that are large enough, else a new one. Before a new
  // one is allocated, one idle arena is freed. Null when memory is short.
  BufferRef Take(uint64_t bytes, const void* before);
  // Takes an arena back, which nobody may use any more.
  void Return(BufferRef arena);

  // The number of idle arenas, and the bytes that they have together.
  size_t num_idle() const;
  uint64_t idle_bytes() const;

 private:
  using Arenas = std::vector<BufferRef>;
  // Removes an idle arena that fits as Take says; null if none does.
  BufferRef TakeIdle(uint64_t bytes, const void* before) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends a window: hands out the arenas to be freed.
  Arenas Unneeded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  Arenas idle_ ABSL_GUARDED_BY(mutex_);  // last used last
  // Of this window: the fewest idle arenas, the most bytes that a run asked for, and the runs.
  size_t fewest_idle_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t most_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t runs_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon
