#include "plugin/host/devices/arrival_pool.h"

#include <algorithm>
#include <utility>

#include "graph/base/status_macros.h"
#include "plugin/host/devices/pluggable_device_impl.h"

namespace tenon {

ArrivalPool::ArrivalPool(PluggableDevice& device, BfcAllocator& allocator, size_t keep_bytes)
    : device_(device), allocator_(allocator), keep_bytes_(keep_bytes) {
  absl::MutexLock lock(&link_->mutex);
  link_->pool = this;
}

ArrivalPool::~ArrivalPool() {
  {
    absl::MutexLock lock(&link_->mutex);
    link_->pool = nullptr;
  }
  absl::MutexLock lock(&mutex_);
  for (const Retired& retired : retired_) device_.ReleaseEvent(retired.event);
}

// Kernels may work in place in such a buffer, so it must count as the device's own.
BufferRef ArrivalPool::Wrap(BufferRef memory, size_t bytes) {
  void* const data = memory->data();
  return BufferRef::Adopt(
      Buffer::OfDevice(data, bytes, Release, new Share{link_, std::move(memory)}));
}

absl::StatusOr<BufferRef> ArrivalPool::Allocate(StreamHandle stream, size_t bytes) {
  if (BufferRef idle = FindIdle(bytes)) return Wrap(std::move(idle), bytes);
  absl::StatusOr<BufferRef> memory = allocator_.Allocate(bytes);
  if (!memory.ok() && Drop()) memory = allocator_.Allocate(bytes);
  TENON_RETURN_IF_ERROR(memory.status());
  TENON_RETURN_IF_ERROR(device_.StreamWaitsForStream(stream, device_.compute_stream()));
  return Wrap(*std::move(memory), bytes);
}

void ArrivalPool::Release(void*, size_t, void* arg) {
  const std::unique_ptr<Share> share(static_cast<Share*>(arg));
  absl::MutexLock lock(&share->link->mutex);
  if (share->link->pool != nullptr) share->link->pool->Retire(std::move(share->memory));
}

// Without an event, and beyond what the pool keeps, the allocator gets the memory: from there it is
// used again behind what the compute stream has now.
void ArrivalPool::Retire(BufferRef memory) {
  const size_t bytes = memory->bytes();
  {
    absl::MutexLock lock(&mutex_);
    for (; kept_bytes_ + bytes > keep_bytes_ && !idle_.empty(); idle_.pop_front())
      kept_bytes_ -= idle_.front()->bytes();
    if (kept_bytes_ + bytes > keep_bytes_) return;
  }
  const absl::StatusOr<EventHandle> event = device_.AcquireEvent();
  if (!event.ok()) return;
  if (!device_.RecordEvent(device_.compute_stream(), *event).ok())
    return device_.ReleaseEvent(*event);
  absl::MutexLock lock(&mutex_);
  kept_bytes_ += bytes;
  retired_.push_back({*event, std::move(memory)});
}

// The oldest memory that fits and is not much larger. Memory whose event fails is given up to the
// allocator: the compute stream orders its next use.
BufferRef ArrivalPool::FindIdle(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  while (!retired_.empty()) {
    Retired& oldest = retired_.front();
    const absl::StatusOr<bool> done = device_.IsComplete(oldest.event);
    if (done.ok() && !*done) break;
    device_.ReleaseEvent(oldest.event);
    if (done.ok()) {
      idle_.push_back(std::move(oldest.memory));
    } else {
      kept_bytes_ -= oldest.memory->bytes();
    }
    retired_.pop_front();
  }
  const auto fits = [bytes](const BufferRef& memory) {
    return memory->bytes() >= bytes && memory->bytes() - bytes <= bytes / 4;
  };
  const auto found = std::find_if(idle_.begin(), idle_.end(), fits);
  if (found == idle_.end()) return BufferRef();
  BufferRef memory = std::move(*found);
  idle_.erase(found);
  kept_bytes_ -= memory->bytes();
  return memory;
}

// Retired memory, too: the allocator gives it out again in the order of the compute stream.
bool ArrivalPool::Drop() {
  std::deque<Retired> retired;
  std::deque<BufferRef> idle;
  {
    absl::MutexLock lock(&mutex_);
    retired.swap(retired_);
    idle.swap(idle_);
    kept_bytes_ = 0;
  }
  for (const Retired& memory : retired) device_.ReleaseEvent(memory.event);
  return !retired.empty() || !idle.empty();
}

}  // namespace tenon
