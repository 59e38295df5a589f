#include "executor/run/frame_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tenon {

absl::StatusOr<std::unique_ptr<Frame>> FramePool::Take(const Plan& plan) {
  {
    absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Frame> frame = std::move(idle_.back());
      idle_.pop_back();
      fewest_idle_ = std::min(fewest_idle_, idle_.size());
      return frame;
    }
  }
  return Frame::Create(plan);
}

void FramePool::Return(std::unique_ptr<Frame> frame) {
  Frames unneeded;  // freed behind the lock: giving large arenas back to the system takes time
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(frame));
  if (++runs_ == kWindow) unneeded = Unneeded();
}

size_t FramePool::num_idle() const {
  absl::MutexLock lock(&mutex_);
  return idle_.size();
}

// Frames are taken from the back, so those that nobody took are the first ones.
FramePool::Frames FramePool::Unneeded() {
  const auto end = idle_.begin() + static_cast<std::ptrdiff_t>(fewest_idle_);
  Frames unneeded(std::make_move_iterator(idle_.begin()), std::make_move_iterator(end));
  idle_.erase(idle_.begin(), end);
  runs_ = 0;
  fewest_idle_ = idle_.size();
  return unneeded;
}

}  // namespace tenon
