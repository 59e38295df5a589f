#include "plugin/strict/stream_marks.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace tenon {
namespace {

// Marks that were reached are kept for a while: a plug-in may, wrongly, call one again.
constexpr size_t kKept = 1000;
constexpr auto kGrace = std::chrono::milliseconds(250);
constexpr auto kPause = std::chrono::microseconds(100);

}  // namespace

void StreamMarks::Run(void* const argument, TF_Status* const) {
  const auto* mark = static_cast<const Mark*>(argument);
  uint64_t reached = mark->reached->load();
  while (reached < mark->count && !mark->reached->compare_exchange_weak(reached, mark->count)) {
  }
}

void StreamMarks::Queue(const SP_StreamExecutor& real, const SP_Device* device, SP_Stream stream,
                        uint64_t count) {
  // Held meanwhile, so that whoever finds this mark queues behind it. The callback needs no lock.
  absl::MutexLock lock(&mutex_);
  if (!marks_.empty() && marks_.back()->count >= count) return;
  while (marks_.size() > kKept && marks_.front()->count <= reached_.load()) marks_.pop_front();
  marks_.push_back(std::make_unique<Mark>(Mark{&reached_, count}));
  Mark* const mark = marks_.back().get();
  if (!real.host_callback(device, stream, Run, mark)) Run(mark, nullptr);  // says nothing then
}

bool StreamMarks::Reached(uint64_t count) {
  uint64_t due = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (told_) return true;
    for (const std::unique_ptr<Mark>& mark : marks_) {
      if (mark->count <= count) due = std::max(due, mark->count);
    }
  }
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  while (reached_.load() < due) {
    if (std::chrono::steady_clock::now() >= deadline) {
      absl::MutexLock lock(&mutex_);
      return std::exchange(told_, true);
    }
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace tenon
