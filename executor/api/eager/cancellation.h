// TFE_CancellationManager: lets a program cancel ops. A function notices the cancellation before it
// starts and before each pass of a loop. Functions and ops notice it while they wait, for example
// for an element of a queue, and between two ranges of Workers::ParallelFor. Private to
// executor/api/eager/.
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
  // Calls all registered callbacks in any order, on the calling thread, without a lock; then
  // cancelled() is true. A second call does nothing, and does not wait for the first.
  void Cancel();
  // To be called before the caller of the C interface deletes the manager. Calls Cancel if
  // callbacks are registered, as TensorFlow does. Else does nothing: ops that share the manager run
  // on.
  void End();
  // Whether a call of Cancel has ended: its callbacks have returned.
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // The limits of an op that this manager cancels. The op waits without end for actions of other
  // ops. The manager must outlive the limits.
  RunLimits limits() const {
    return {.cancelled = &cancelled_, .patience = absl::InfiniteDuration()};
  }
  // Whether Cancel is calling callbacks now.
  bool cancelling() const;
  // A token that no earlier call has returned for this manager.
  int64_t NewToken() { return next_token_.fetch_add(1); }
  // Registers the callback, in the place of a callback with the same token. Once Cancel was called,
  // returns false and registers nothing.
  bool Register(int64_t token, std::function<void()> callback);
  // Removes the callback of the token, and returns true, also if the token has no callback. Once
  // Cancel was called, returns false. `wait`: first waits for all callbacks of a Cancel that is
  // under way, so a callback itself must pass false.
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
