// Checks whether a stream's work is done when the plug-in says so. The host queues callbacks of its
// own (marks) between the work; a mark that was called shows how far the stream has got.
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

// The marks of one stream. Must live as long as the process: a plug-in may call back at any time.
// Thread-safe.
class StreamMarks {
 public:
  explicit StreamMarks(std::string plugin)
      : caller_(std::make_shared<ExpectedCaller>(
            ExpectedCaller{std::move(plugin), "host_callback", ""})) {}
  // Queues a mark behind the stream's work, of which `count` pieces are queued by now; unless a
  // mark behind `count` or more pieces is queued or was called. If the plug-in refuses the mark, it
  // counts as reached.
  void Queue(const SP_StreamExecutor& real, const SP_Device* device, SP_Stream stream,
             uint64_t count);
  // Whether the last mark behind at most `count` pieces of work was called; true if there is none.
  // Waits up to a quarter of a second for it, since callbacks may come a little later than the work
  // ends. After the first false it returns true for every `count`, so that a stream's fault is
  // reported once.
  bool Reached(uint64_t count);

 private:
  struct Mark {
    std::atomic<uint64_t>* reached;
    uint64_t count;
  };
  static void Run(void* mark, TF_Status* status);

  absl::Mutex mutex_;
  const std::shared_ptr<const ExpectedCaller> caller_;
  std::deque<uint64_t> counts_ ABSL_GUARDED_BY(mutex_);  // of the marks that may not be reached yet
  bool told_ ABSL_GUARDED_BY(mutex_) = false;            // Reached has returned false
  std::atomic<uint64_t> reached_{0};  // the highest count of a mark that was called
};

}  // namespace tenon
