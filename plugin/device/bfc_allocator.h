// Device memory in large regions, divided and merged on the host: best fit with coalescing, the
// allocator that TensorFlow puts on top of a plug-in's `allocate` when its platform asks for it.
//
// A chunk that is given back is reused at once: its former user's work and its next user's must be
// ordered by a stream. Chunks are multiples of 256 bytes and start at such; callers see addresses
// inside a region, not what the plug-in returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Follows what is given out and comes back.
class ChunkWatch {
 public:
  virtual ~ChunkWatch() = default;
  virtual void Given(void* data, size_t bytes) = 0;
  // Nobody has it; it rests for a while, unless memory is short.
  virtual void Returned(void* data) = 0;
  // Before anybody else gets the memory.
  virtual void Rested(void* data) = 0;
  // Whether Returned may be called now; else it is later.
  virtual bool IsFree() const = 0;
};

struct BfcOptions {
  size_t limit_bytes = 0;  // of all regions together
  bool grow = true;        // regions of 2 MiB, 4 MiB, … as needed; else one region of limit_bytes
  std::string name;        // for error messages: "/device:APU:0"
  size_t zone = 0;  // bytes that are left free on both sides of each chunk, a multiple of 256
  ChunkWatch* watch = nullptr;  // null: nobody; else it outlives the allocator
};

struct BfcStats {
  int64_t num_allocs = 0;
  int64_t bytes_in_use = 0;
  int64_t peak_bytes_in_use = 0;
  int64_t region_bytes = 0;
  int64_t num_regions = 0;
};

// Where regions come from: a plug-in's allocate and deallocate.
class RegionSource {
 public:
  virtual ~RegionSource() = default;
  virtual absl::StatusOr<void*> AllocateRegion(size_t bytes) = 0;  // an error or null: none left
  virtual void FreeRegion(void* data, size_t bytes) = 0;
};

// Thread-safe. Buffers may outlive the allocator: their memory is gone then, giving them back does
// nothing.
class BfcAllocator {
 public:
  // `source` must outlive the allocator.
  BfcAllocator(RegionSource* source, BfcOptions options);
  ~BfcAllocator();
  BfcAllocator(const BfcAllocator&) = delete;
  BfcAllocator& operator=(const BfcAllocator&) = delete;

  // RESOURCE_EXHAUSTED naming the device, the request and what is in use.
  absl::StatusOr<BufferRef> Allocate(size_t bytes);
  BfcStats stats() const;

 private:
  class Core;
  Core* core_;  // shared with the buffers
};

}  // namespace tenon
