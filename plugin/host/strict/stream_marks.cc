#include "plugin/host/strict/stream_marks.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "plugin/device/pending_calls.h"

namespace tenon {
namespace {

// A device may report the end of its work to callbacks later than to events.
constexpr auto kGrace = std::chrono::milliseconds(250);
constexpr auto kMarkPause = std::chrono::microseconds(100);

}  // namespace

void StreamMarks::Run(void* const handle, TF_Status* const) {
  const std::unique_ptr<const Mark> mark(static_cast<const Mark*>(TakePendingCall(handle)));
  if (mark == nullptr) return;
  // The maximum, without a lock: marks may be called in any order and on any thread.
  uint64_t reached = mark->reached->load();
  while (reached < mark->count && !mark->reached->compare_exchange_weak(reached, mark->count)) {
  }
}

void StreamMarks::Queue(const SP_StreamExecutor& real, const SP_Device* device, SP_Stream stream,
                        uint64_t count) {
  // The lock is held during host_callback, so that a thread which finds this mark in counts_ queues
  // its work behind the mark. The callback itself takes no lock.
  absl::MutexLock lock(&mutex_);
  if (count <= reached_.load() || (!counts_.empty() && counts_.back() >= count)) return;
  while (!counts_.empty() && counts_.front() <= reached_.load()) counts_.pop_front();
  counts_.push_back(count);
  void* const mark = PendingCall(new Mark{&reached_, count}, caller_);
  // A mark that the plug-in refuses shows nothing, so it counts as reached.
  if (!real.host_callback(device, stream, Run, mark)) Run(mark, nullptr);
}

bool StreamMarks::Reached(uint64_t count) {
  uint64_t due = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (told_) return true;
    for (const uint64_t mark : counts_) {
      if (mark <= count) due = std::max(due, mark);
    }
  }
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  while (reached_.load() < due) {
    if (std::chrono::steady_clock::now() >= deadline) {
      absl::MutexLock lock(&mutex_);
      return std::exchange(told_, true);
    }
    std::this_thread::sleep_for(kMarkPause);
  }
  return true;
}

}  // namespace tenon
