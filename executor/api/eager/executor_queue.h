// TFE_Executor: executes ops in the order of their calls, in the calling thread or on a thread of
// its own. Private to executor/api/eager/.
#pragma once

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

// An op that waits to be executed.
class QueuedOp {
 public:
  virtual ~QueuedOp() = default;
  // One of the two is called, once. Run returns the error of the op, of which it has told the op's
  // results.
  virtual absl::Status Run() = 0;
  virtual void Discard(const absl::Status& why) = 0;
};

// Thread-safe.
class Executor {
 public:
  // `limit`: the most ops that are queued, 0 for any number. A thread is made when the first op
  // comes.
  Executor(bool async, size_t limit) : async_(async), limit_(limit) {}
  // Executes what is queued, and joins the thread.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  bool async() const { return async_; }
  // Queues an op; waits while `limit` ops are queued. After an error discards the op, and returns
  // the error. Only for an asynchronous executor.
  absl::Status Add(std::unique_ptr<QueuedOp> op);
  // Waits until the ops that are queued now have ended; returns the error of the executor.
  absl::Status Wait();
  // The error of the op that failed since the last ClearError.
  absl::Status status() const;
  void ClearError();

 private:
  void Work();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return closing_ || !queue_.empty(); }
  bool HasRoom() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return limit_ == 0 || queue_.size() < limit_;
  }
  void Fail(const absl::Status& error) ABSL_LOCKS_EXCLUDED(mutex_);

  const bool async_;
  const size_t limit_;
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
};
