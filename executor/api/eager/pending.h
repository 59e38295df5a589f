// The results of an op that an executor has queued: they come later, or never.
// Private to executor/api/eager/.
#pragma once

#include <atomic>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace tenon::eager {

// The state of one queued op, which its result handles and the executor share by a count of
// references. Thread-safe.
class Pending {
 public:
  // With one reference, the caller's.
  static Pending* New() { return new Pending; }
  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // The op has ended: with OK, its results are in their handles. To be called once.
  void End(absl::Status status);
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // Blocks until the op has ended, and returns its status.
  absl::Status Wait();

 private:
  Pending() = default;
  ~Pending() = default;

  std::atomic<int32_t> refs_{1};
  std::atomic<bool> ended_{false};
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
