#include "executor/run/arena_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "graph/tensor/large_block.h"

namespace tenon {

BufferRef ArenaPool::TakeIdle(uint64_t bytes, const void* before) {
  auto found = idle_.end();
  for (auto it = idle_.begin(); it != idle_.end(); ++it) {
    if ((*it)->bytes() < bytes) continue;
    found = it;
    if ((*it)->data() == before) break;
  }
  if (found == idle_.end()) return BufferRef();
  BufferRef arena = std::move(*found);
  idle_.erase(found);
  fewest_idle_ = std::min(fewest_idle_, idle_.size());
  return arena;
}

BufferRef ArenaPool::Take(uint64_t bytes, const void* before) {
  {
    BufferRef small;  // freed before the large one is allocated, and behind the lock
    absl::MutexLock lock(&mutex_);
    most_bytes_ = std::max(most_bytes_, bytes);
    if (BufferRef arena = TakeIdle(bytes, before)) return arena;
    if (!idle_.empty()) {
      small = std::move(idle_.back());
      idle_.pop_back();
      fewest_idle_ = std::min(fewest_idle_, idle_.size());
    }
  }
  void* const fresh = AllocateLargeBlock(bytes);
  if (fresh == nullptr) return BufferRef();
  const auto free = [](void* data, size_t size, void*) { FreeLargeBlock(data, size); };
  return BufferRef::Adopt(Buffer::Wrap(fresh, bytes, free, nullptr));
}

void ArenaPool::Return(BufferRef arena) {
  Arenas unneeded;  // freed behind the lock: giving large arenas back to the system takes time
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(arena));
  if (++runs_ == kWindow) unneeded = Unneeded();
}

// Frames mostly take from the back, so those that nobody took stand in front.
ArenaPool::Arenas ArenaPool::Unneeded() {
  Arenas kept, unneeded;
  for (size_t i = 0; i < idle_.size(); ++i) {
    const bool free = i < fewest_idle_ || idle_[i]->bytes() / 2 > most_bytes_;
    (free ? unneeded : kept).push_back(std::move(idle_[i]));
  }
  idle_ = std::move(kept);
  fewest_idle_ = idle_.size();
  most_bytes_ = 0;
  runs_ = 0;
  return unneeded;
}

size_t ArenaPool::num_idle() const {
  absl::MutexLock lock(&mutex_);
  return idle_.size();
}

uint64_t ArenaPool::idle_bytes() const {
  absl::MutexLock lock(&mutex_);
  uint64_t bytes = 0;
  for (const BufferRef& arena : idle_) bytes += arena->bytes();
  return bytes;
}

}  // namespace tenon
