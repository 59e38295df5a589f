#include "executor/api/eager/executor_queue.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/c_api/callback_scope.h"

namespace tenon::eager {

Executor::~Executor() {
  std::thread thread;
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
}

absl::Status Executor::Add(std::unique_ptr<QueuedOp> op) {
  absl::Status error;
  {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Executor::HasRoom));
    error = status_.ok() ? StartThread() : status_;
    if (error.ok()) {
      queue_.push_back(std::move(op));
      ++added_;
      return absl::OkStatus();
    }
  }
  op->Discard(error);
  return error;
}

absl::Status Executor::StartThread() {
  if (thread_.joinable()) return absl::OkStatus();
  try {
    thread_ = std::thread([this] { Work(); });
    return absl::OkStatus();
  } catch (const std::system_error& e) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no thread for an asynchronous executor: ", e.what()));
  }
}

void Executor::Work() {
  MarkHostThread();
  for (;;) {
    std::unique_ptr<QueuedOp> op;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &Executor::HasWork));
      if (queue_.empty()) return;
      op = std::move(queue_.front());
      queue_.pop_front();
    }
    const absl::Status status = op->Run();
    op.reset();
    if (!status.ok()) Fail(status);
    absl::MutexLock lock(&mutex_);
    ++ended_;
  }
}

// Ops behind one that failed may rely on it.
void Executor::Fail(const absl::Status& error) {
  std::deque<std::unique_ptr<QueuedOp>> discarded;
  {
    absl::MutexLock lock(&mutex_);
    if (status_.ok()) {
      status_ =
          Annotate(error, "",
                   "\n\tEncountered when executing an operation using EagerExecutor. This error "
                   "cancels all future operations and poisons their output tensors.");
    }
    discarded.swap(queue_);
  }
  for (const std::unique_ptr<QueuedOp>& op : discarded) op->Discard(error);
  absl::MutexLock lock(&mutex_);
  ended_ += static_cast<int64_t>(discarded.size());
}

absl::Status Executor::Wait() {
  absl::MutexLock lock(&mutex_);
  const int64_t target = added_;
  const auto ended = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return ended_ >= target; };
  mutex_.Await(absl::Condition(&ended));
  return status_;
}

absl::Status Executor::status() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

void Executor::ClearError() {
  absl::MutexLock lock(&mutex_);
  status_ = absl::OkStatus();
}

}  // namespace tenon::eager
