// TFE_Executor: executes ops in the order of their calls, in the calling thread or on a thread of
// its own. Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "graph/c_api/handles.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {

// An op that waits to be executed. Its results are pending (pending.h).
class QueuedOp {
 public:
  virtual ~QueuedOp() = default;
  // The executor calls one of the two, once. Run executes the op, ends its pending results with the
  // status of the op, and returns that status. Discard ends the pending results with the error
  // `why` without executing the op.
  virtual absl::Status Run() = 0;
  virtual void Discard(const absl::Status& why) = 0;
};

// Thread-safe.
class Executor {
 public:
  // `async`: ops are queued with Add, and executed on a thread that the first Add starts; otherwise
  // callers execute their ops themselves, and Add must not be called. `limit`: the most ops that
  // wait in the queue; 0: no limit.
  Executor(bool async, size_t limit) : async_(async), limit_(limit) {}
  // Executes the ops that are still queued, and joins the thread.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  bool async() const { return async_; }
  // Queues an op. Blocks while `limit` ops wait. While status() is an error, or if the system has
  // no thread (RESOURCE_EXHAUSTED), discards `op` instead and returns the error. When a queued op
  // fails, all ops that wait behind it are discarded.
  absl::Status Add(std::unique_ptr<QueuedOp> op);
  // Blocks until all ops that were queued before this call have been executed or discarded; returns
  // status() of then.
  absl::Status Wait();
  // The error of the first op that has failed since the last ClearError; OK if none has.
  absl::Status status() const;
  void ClearError();

  // The executor is deleted: waits as Wait does. Threads that had it go back to their context's.
  void Retire() {
    Wait().IgnoreError();
    retired_.store(true, std::memory_order_release);
  }
  bool retired() const { return retired_.load(std::memory_order_acquire); }

 private:
  absl::Status StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Work();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return closing_ || !queue_.empty(); }
  bool HasRoom() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return limit_ == 0 || queue_.size() < limit_;
  }
  void Fail(const absl::Status& error) ABSL_LOCKS_EXCLUDED(mutex_);

  const bool async_;
  const size_t limit_;
  std::atomic<bool> retired_{false};
  mutable absl::Mutex mutex_;
  std::deque<std::unique_ptr<QueuedOp>> queue_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  int64_t added_ ABSL_GUARDED_BY(mutex_) = 0, ended_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager

struct TFE_Executor {
  using Pool = tenon::Handles<TFE_Executor>;
  std::shared_ptr<tenon::eager::Executor> executor;
  bool is_maker = true;  // of TFE_NewExecutor: the executor retires with this object
};
