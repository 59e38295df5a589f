// TFE_CancellationManager: lets a program cancel ops. A function looks at it before it starts,
// between its steps if it loops, and where it waits; an op looks at it where it waits, as for an
// element of a queue. Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "graph/c_api/handles.h"
#include "plugin/kernels/run_limits.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {

// Thread-safe.
class CancellationManager {
 public:
  // Calls the callbacks in any order, on this thread, without a lock. A second call does nothing,
  // and does not wait for the first.
  void Cancel();
  // Cancels if callbacks are left: each hears of the end of the manager, as in TensorFlow.
  void End();
  // Whether Cancel has called all callbacks.
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // The limits of an op that this manager cancels: it waits for others without end. The manager
  // must outlive them.
  RunLimits limits() const {
    return {.cancelled = &cancelled_, .patience = absl::InfiniteDuration()};
  }
  // Whether Cancel is calling them now.
  bool cancelling() const;
  int64_t NewToken() { return next_token_.fetch_add(1); }
  // False if Cancel was called. The callback takes the place of one with the same token.
  bool Register(int64_t token, std::function<void()> callback);
  // Takes the callback back; true also if there is none. False if Cancel was called; with `wait`
  // only after its callbacks have returned: a callback must not call it so.
  bool Deregister(int64_t token, bool wait);

 private:
  bool settled() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !cancelling_; }

  mutable absl::Mutex mutex_;
  bool cancelling_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> cancelled_{false};
  std::atomic<int64_t> next_token_{0};
  absl::flat_hash_map<int64_t, std::function<void()>> callbacks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager

struct TFE_CancellationManager {
  using Pool = tenon::Handles<TFE_CancellationManager>;
  std::shared_ptr<tenon::eager::CancellationManager> manager =
      std::make_shared<tenon::eager::CancellationManager>();
};
