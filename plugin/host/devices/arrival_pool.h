// Device memory for copies from the host. Memory of the allocator may be in use by queued kernels,
// so that a copy into it must wait for them; this memory is known to be idle, so that the copy of
// the next value overlaps the kernels of the last. Private to plugin/host/devices/.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/device/bfc_allocator.h"
#include "plugin/device/device.h"

namespace tenon {

class PluggableDevice;

// Keeps the memory of earlier copies for copies of about that size. Thread-safe. Buffers may
// outlive the pool: their memory goes back to the allocator then.
class ArrivalPool {
 public:
  // `keep_bytes`: the most memory that waits here for the next copy; buffers that several threads
  // release at once may exceed it. `device` and `allocator` must outlive the pool.
  ArrivalPool(PluggableDevice& device, BfcAllocator& allocator, size_t keep_bytes);
  // The device's streams must be idle.
  ~ArrivalPool();
  ArrivalPool(const ArrivalPool&) = delete;
  ArrivalPool& operator=(const ArrivalPool&) = delete;

  // A buffer that `stream` may write to now. If none is idle, takes memory of the allocator and
  // makes the stream wait for the compute stream. Errors are those of the two.
  absl::StatusOr<BufferRef> Allocate(StreamHandle stream, size_t bytes);
  // Gives the memory that waits back to the allocator; false if there was none.
  bool Drop();

 private:
  // The way from a buffer to the pool, which may be gone.
  struct Link {
    absl::Mutex mutex;
    ArrivalPool* pool ABSL_GUARDED_BY(mutex) = nullptr;
  };
  struct Share {
    std::shared_ptr<Link> link;
    BufferRef memory;
  };
  struct Retired {
    EventHandle event;  // on the compute stream, behind the last use
    BufferRef memory;
  };

  static void Release(void* data, size_t bytes, void* arg);
  void Retire(BufferRef memory);
  BufferRef FindIdle(size_t bytes);
  BufferRef Wrap(BufferRef memory, size_t bytes);

  PluggableDevice& device_;
  BfcAllocator& allocator_;
  const size_t keep_bytes_;
  const std::shared_ptr<Link> link_ = std::make_shared<Link>();
  absl::Mutex mutex_;
  std::deque<Retired> retired_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  std::deque<BufferRef> idle_ ABSL_GUARDED_BY(mutex_);   // likewise
  size_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;        // of both
};

}  // namespace tenon
