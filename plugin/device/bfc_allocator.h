// Divides large regions of device memory into chunks and merges free neighbours (best fit with
// coalescing). TensorFlow puts the same allocator on top of a plug-in's `allocate` where the
// platform asks for it.
//
// Without a watch a freed chunk may be reused at once, so a stream must order the work of the
// former user before that of the next one. Offsets and sizes of chunks are multiples of 256 bytes.
// The address of a chunk may lie anywhere inside a region: most are not addresses that the plug-in
// returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Hears of each chunk that callers get and give back. Is told no more once the allocator is gone:
// not of chunks that come back later, nor of those that still rest or wait for their call of
// Returned. The allocator calls it on the caller's thread, without a lock of its own, also on
// several threads at once. A chunk's Rested comes after its Returned has ended. `data` is the
// address that the caller sees.
class ChunkWatch {
 public:
  virtual ~ChunkWatch() = default;
  // A caller gets the chunk, and asked for `bytes`.
  virtual void Given(void* data, size_t bytes) = 0;
  // The caller has given the chunk back. The chunk rests until it and the chunks that came back
  // later take more than an eighth of limit_bytes, or memory is short.
  virtual void Returned(void* data) = 0;
  // The rest ends: another caller may get the memory next.
  virtual void Rested(void* data) = 0;
  // Whether the allocator may call Returned and Rested now, as a chunk comes back. If not, it calls
  // when a later chunk comes back. An Allocate that finds no memory does not ask: it calls both.
  virtual bool IsFree() const = 0;
};

struct BfcOptions {
  size_t limit_bytes = 0;  // the most that all regions may have together
  // The first region has 2 MiB, each later one twice the size of the last. The size doubles until
  // the request fits, and stays doubled if the source then refuses; it ends at what limit_bytes
  // leaves. If the source refuses a region, the request's size is tried. False: one region of
  // limit_bytes, rounded down to a multiple of 256, made by the first Allocate.
  bool grow = true;
  std::string name;  // for error messages: "/device:APU:0"
  size_t zone = 0;   // bytes that stay unused on both sides of each chunk; a multiple of 256
  std::shared_ptr<ChunkWatch> watch;  // may be null; buffers that outlive the allocator share it
};

struct BfcStats {
  int64_t num_allocs = 0;    // of at least 1 byte, that were ever made
  int64_t bytes_in_use = 0;  // whole chunks, zones included; also chunks that rest
  int64_t peak_bytes_in_use = 0;
  int64_t region_bytes = 0;
  int64_t num_regions = 0;
};

// Allocates regions: the allocate and deallocate of a plug-in. The allocator holds its lock during
// the calls, so that they must not use the allocator. The allocator frees regions only in its
// destructor.
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

  // Returns a buffer of `bytes` bytes with undefined contents; its chunk is released with the
  // buffer's last reference. For 0 bytes the buffer has a null address and no chunk. Every failure,
  // also any error of the source, is RESOURCE_EXHAUSTED and names the device, the request and the
  // bytes in use.
  absl::StatusOr<BufferRef> Allocate(size_t bytes);
  BfcStats stats() const;

 private:
  class Core;
  Core* core_;  // shared with the buffers
};

}  // namespace tenon
