// Divides large regions of device memory into chunks and merges free neighbours (best fit with
// coalescing). TensorFlow puts the same allocator on top of a plug-in's `allocate` where the
// platform asks for it.
//
// A freed chunk is reused at once, so that a stream must order the work of the former user and of
// the next one. Offsets and sizes of chunks are multiples of 256 bytes. Callers see addresses
// inside a region, not the addresses that the plug-in returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Hears of each chunk that callers get and give back, but not of chunks that are given back after
// the allocator is gone.
class ChunkWatch {
 public:
  virtual ~ChunkWatch() = default;
  // A caller gets the chunk.
  virtual void Given(void* data, size_t bytes) = 0;
  // The caller has given the chunk back. The chunk rests for a while, unless memory is short.
  virtual void Returned(void* data) = 0;
  // The rest ends: another caller may get the memory next.
  virtual void Rested(void* data) = 0;
  // Whether the allocator may call Returned now; if not, it calls later.
  virtual bool IsFree() const = 0;
};

struct BfcOptions {
  size_t limit_bytes = 0;  // the most that all regions may have together
  bool grow = true;        // regions of 2 MiB, 4 MiB, … as needed; else one region of limit_bytes
  std::string name;        // for error messages: "/device:APU:0"
  size_t zone = 0;         // bytes that stay unused on both sides of each chunk; a multiple of 256
  std::shared_ptr<ChunkWatch> watch;  // may be null; buffers that outlive the allocator share it
};

struct BfcStats {
  int64_t num_allocs = 0;  // all that were ever made
  int64_t bytes_in_use = 0;
  int64_t peak_bytes_in_use = 0;
  int64_t region_bytes = 0;
  int64_t num_regions = 0;
};

// Allocates regions: the allocate and deallocate of a plug-in.
class RegionSource {
 public:
  virtual ~RegionSource() = default;
  virtual absl::StatusOr<void*> AllocateRegion(size_t bytes) = 0;  // an error or null: none left
  virtual void FreeRegion(void* data, size_t bytes) = 0;
};

// Thread-safe. Buffers may outlive the allocator: their memory is gone then, and releasing them
// does nothing.
class BfcAllocator {
 public:
  // `source` must outlive the allocator.
  BfcAllocator(RegionSource* source, BfcOptions options);
  ~BfcAllocator();
  BfcAllocator(const BfcAllocator&) = delete;
  BfcAllocator& operator=(const BfcAllocator&) = delete;

  // A chunk of at least `bytes`; released with the buffer's last reference. For 0 bytes a buffer
  // with a null address. RESOURCE_EXHAUSTED names the device, the request and the bytes in use.
  absl::StatusOr<BufferRef> Allocate(size_t bytes);
  BfcStats stats() const;

 private:
  class Core;
  Core* core_;  // shared with the buffers
};

}  // namespace tenon
