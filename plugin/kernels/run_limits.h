// What ends a run before it is done: a deadline, and a switch that another thread throws.
#pragma once

#include <atomic>
#include <exception>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tenon {

// The limits of one run. Thread-safe.
struct RunLimits {
  // True once the run is to end; null: nobody ends it. Not owned.
  const std::atomic<bool>* cancelled = nullptr;
  absl::Time deadline = absl::InfiniteFuture();
  // The longest wait of a kernel for an action of another run, e.g. for an element in a queue.
  // TensorFlow waits without end.
  absl::Duration patience = absl::Seconds(60);

  bool has_deadline() const { return deadline != absl::InfiniteFuture(); }
  bool is_late() const { return has_deadline() && absl::Now() >= deadline; }
  bool is_cancelled() const { return cancelled != nullptr && cancelled->load(); }
  // Whether the run may ever be ended.
  bool may_end() const { return cancelled != nullptr || has_deadline(); }
  // Whether the run is to end now.
  bool is_over() const { return is_cancelled() || is_late(); }
  // OK as long as the run may go on; else CANCELLED, or DEADLINE_EXCEEDED with TensorFlow's
  // message.
  absl::Status Check() const;
};

// Makes `limits` those of the run on this thread, until the scope ends. Null stands for the
// defaults. `limits` must outlive the scope. Scopes may be nested.
class LimitsScope {
 public:
  explicit LimitsScope(const RunLimits* limits);
  ~LimitsScope();
  LimitsScope(const LimitsScope&) = delete;
  LimitsScope& operator=(const LimitsScope&) = delete;

 private:
  const RunLimits* const outer_;
};

// The limits of the run on this thread; null: the defaults.
const RunLimits* LimitsOfThread();

// Thrown by Workers::ParallelFor, within a kernel, between two tiles of a run that is to end. Who
// runs kernels within a LimitsScope catches it and returns the status, that of RunLimits::Check.
class RunEnded : public std::exception {
 public:
  explicit RunEnded(absl::Status status) : status_(std::move(status)) {}
  const absl::Status& status() const { return status_; }
  const char* what() const noexcept override { return "the run is to end"; }

 private:
  absl::Status status_;
};

// Counts this thread in `threads`, the number of threads that compute. Takes it out of the number
// that it was counted in before. Null: it is then counted nowhere. `threads` must live until the
// thread's next call of this function.
void CountComputing(std::atomic<int>* threads);

// The thread waits, and is not counted among those that compute, for the life of the object. Create
// and destroy it in the same thread. A thread has one at a time, and calls CountComputing outside
// of its life only.
class Pause {
 public:
  Pause();
  ~Pause();
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
};

// Waits, in a kernel, until an action of another run makes `condition` true. Makes a Pause: the
// caller must have none on this thread. The caller holds `mutex`, which guards what the condition
// reads. Returns true then, and false once the patience of the run on this thread is used up.
// CANCELLED "`action` operation was cancelled" or DEADLINE_EXCEEDED if the run is to end; CANCELLED
// also if the condition is true, but the run was cancelled before the call. Sees within some
// milliseconds that the run is cancelled.
absl::StatusOr<bool> AwaitOtherRun(absl::Mutex& mutex, const absl::Condition& condition,
                                   std::string_view action) ABSL_SHARED_LOCKS_REQUIRED(mutex);

}  // namespace tenon
