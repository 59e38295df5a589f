// Whether a stream is done when a plug-in says so: the host's own callbacks, queued between its
// work, tell how far it has got.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "plugin/device/pending_calls.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// One stream. Lives as long as the process: a plug-in may call back at any time. Thread-safe.
class StreamMarks {
 public:
  explicit StreamMarks(std::string plugin)
      : debtor_(std::make_shared<CallDebtor>(CallDebtor{std::move(plugin), "host_callback", ""})) {}
  // Queues a mark behind the stream's first `count` pieces of work, unless there is one. A plug-in
  // that refuses host callbacks is believed.
  void Queue(const SP_StreamExecutor& real, const SP_Device* device, SP_Stream stream,
             uint64_t count);
  // False if the last mark behind at most `count` pieces of work has not been reached, and is not
  // soon: callbacks may come a little later than the work ends. Says so once.
  bool Reached(uint64_t count);

 private:
  struct Mark {
    std::atomic<uint64_t>* reached;
    uint64_t count;
  };
  static void Run(void* mark, TF_Status* status);

  absl::Mutex mutex_;
  const std::shared_ptr<const CallDebtor> debtor_;
  std::deque<uint64_t> counts_ ABSL_GUARDED_BY(mutex_);  // of the marks, but for the first ones
  bool told_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> reached_{0};
};

}  // namespace tenon
