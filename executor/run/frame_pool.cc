#include "executor/run/frame_pool.h"

#include <utility>

namespace tenon {

absl::StatusOr<std::unique_ptr<Frame>> FramePool::Take(const Plan& plan) {
  {
    absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Frame> frame = std::move(idle_.back());
      idle_.pop_back();
      return frame;
    }
  }
  return Frame::Create(plan);
}

void FramePool::Return(std::unique_ptr<Frame> frame) {
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(frame));
}

}  // namespace tenon
