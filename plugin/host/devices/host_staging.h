// Copies from any host memory to a device by way of blocks of the device's own host memory. The
// host copies a piece into a block, and the device copies the block while the host fills the next:
// from memory that is not pinned a driver copies at a fraction of the speed, and makes the caller
// wait. Private to plugin/host/devices/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/device/device.h"
#include "plugin/host/devices/host_pool.h"
#include "plugin/host/devices/pluggable_device.h"

namespace tenon {

class PluggableDevice;

// Thread-safe.
class HostStaging {
 public:
  // The smallest copy that goes through a block, and the smallest value that gets memory of the
  // pool: below, a call of the plug-in costs more than the bytes.
  static constexpr size_t kLeastBytes = size_t{128} << 10;

  // As the variable TENON_HOST_STAGING says: "on", "off", or else what the first large copy shows
  // to be faster. A device whose memory is the host's gains nothing.
  HostStaging(PluggableDevice& device, std::shared_ptr<HostPool> pool);
  // No block may be in use: the device's streams are idle.
  ~HostStaging();
  HostStaging(const HostStaging&) = delete;
  HostStaging& operator=(const HostStaging&) = delete;

  // Queues a copy of `bytes` bytes. `host` must stay until the copy is done: pieces for which there
  // is no block are copied from there. False: no copy is queued, since it needs no block or gets
  // none. While it is undecided what is faster, the call copies up to one block several times to
  // `device`, and waits for these copies and for all that `stream` had before. After an error, part
  // of the copy may be queued. Waits for blocks at most as long as the CopyScope says;
  // DEADLINE_EXCEEDED then. Other errors are those of the device's calls and of a run that is to
  // end. Throws what CopyScope::Loop throws.
  absl::StatusOr<bool> CopyIn(StreamHandle stream, const void* host, void* device, size_t bytes);
  // A buffer of the pool for a value that is copied to the host; null if there is none.
  BufferRef AllocateTarget(size_t bytes);
  bool wants_target(size_t bytes) const {
    return bytes >= kLeastBytes && mode_.load(std::memory_order_relaxed) != Mode::kOff &&
           !pool_is_empty_.load(std::memory_order_relaxed);
  }
  HostStagingFacts facts() const;

 private:
  enum class Mode { kUndecided, kOn, kDirect, kOff };
  // One block holds one piece of a copy, until the device has read it.
  struct Block {
    BufferRef memory;
    EventHandle event = nullptr;  // behind the device's copy
  };

  absl::StatusOr<bool> Wanted(StreamHandle stream, const void* host, void* device, size_t bytes);
  absl::Status Decide(StreamHandle stream, const void* host, void* device, size_t bytes);
  absl::StatusOr<double> TimeOf(StreamHandle stream, const void* host, void* device, size_t bytes);
  void NoteEmptyPool();
  Block* AddBlock() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasBlocks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Block*> TakeBlock(double timeout_s);
  Block* FindIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lose(Block* block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status QueueBlock(StreamHandle stream, Block* block, char* device, size_t bytes);
  absl::Status CopyPiece(StreamHandle stream, const char* host, char* device, size_t bytes,
                         double timeout_s);

  PluggableDevice& device_;
  const std::shared_ptr<HostPool> pool_;
  std::atomic<Mode> mode_;
  std::atomic<bool> pool_is_empty_{false};  // the plug-in gave no host memory at all
  absl::Mutex deciding_;
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_ ABSL_GUARDED_BY(mutex_);
  // Blocks of copies that failed: the device may still read them.
  std::vector<std::unique_ptr<Block>> lost_ ABSL_GUARDED_BY(mutex_);
  std::vector<Block*> idle_ ABSL_GUARDED_BY(mutex_);
  std::deque<Block*> queued_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  HostStagingFacts facts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
