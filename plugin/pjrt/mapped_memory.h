// Host memory that the devices of a client copy from and to without a copy in between.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "plugin/pjrt/api.h"

namespace tenon::pjrt {

// A pool of blocks that PJRT_Client_DmaMap made known to the devices. Blocks are kept for later
// runs: to map memory takes longer than to copy it. Thread-safe.
class MappedMemory {
 public:
  // Owns a block, or nothing. Moves only. The pool must outlive the block.
  class Block {
   public:
    Block() = default;
    Block(Block&& o) noexcept
        : pool_(o.pool_), data_(std::exchange(o.data_, nullptr)), bytes_(o.bytes_) {}
    Block& operator=(Block&& o) noexcept;
    ~Block() { GiveBack(); }

    explicit operator bool() const { return data_ != nullptr; }
    // Aligned to kPageBytes.
    char* data() const { return static_cast<char*>(data_); }
    // Gives the memory up for ever: a transfer that did not end may still use the memory.
    void Abandon() { data_ = nullptr; }

   private:
    friend class MappedMemory;
    Block(MappedMemory* pool, void* data, size_t bytes) : pool_(pool), data_(data), bytes_(bytes) {}
    void GiveBack();

    MappedMemory* pool_ = nullptr;
    void* data_ = nullptr;
    size_t bytes_ = 0;
  };

  static constexpr size_t kPageBytes = 4096;

  // `client` must outlive the pool.
  MappedMemory(std::shared_ptr<const Api> api, abi::Client* client)
      : api_(std::move(api)), client_(client) {}
  // Unmaps and frees the blocks that are in the pool. What the plug-in fails to unmap is not freed,
  // and a warning says so.
  ~MappedMemory();
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  // A block of at least `bytes` bytes. Nothing, if the plug-in maps no memory, or memory is short,
  // or more than kMostBytes would be out and in the pool; abandoned blocks count as out. Once the
  // plug-in has failed, the pool maps no more, but goes on with the blocks that it has.
  Block Take(size_t bytes);

 private:
  static constexpr size_t kMostBytes = size_t{1} << 30;

  Block FindFree(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Map(void* data, size_t bytes) const;

  const std::shared_ptr<const Api> api_;
  abi::Client* const client_;
  absl::Mutex mutex_;
  std::vector<std::pair<size_t, void*>> free_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of all blocks
  bool refused_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tenon::pjrt
