// The state of a queued op, whose results have no values until the op has ended without an error.
// Private to executor/api/eager/.
#pragma once

#include <atomic>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace tenon::eager {

// Shared by the result handles of one queued op and by the executor. Deletes itself with the last
// reference. Thread-safe.
class Pending {
 public:
  // The caller gets the first reference.
  static Pending* New() { return new Pending; }
  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Says that the op has ended. If `status` is OK, the result handles have their values. To be
  // called once.
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
