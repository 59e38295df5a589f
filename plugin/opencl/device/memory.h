// Device memory behind addresses that the host computes with.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "cl.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace opencl {

// Where an address lies: a buffer and the byte in it.
struct Place {
  cl_mem buffer = nullptr;
  size_t offset = 0;
};

// Blocks of device memory. Each is a buffer and a reserved range of addresses of the same size,
// without access rights: the host may compute with an address, and nobody can read through it.
// Buffers with offsets need OpenCL 1.2 alone. Shared virtual memory would spare the search, but
// NVIDIA's driver lets the system move it between host and device, and sub-buffers would have to
// begin at multiples of 512 bytes there while the host packs tensors at 64. Thread-safe.
class Memory {
 public:
  struct Stats {
    int64_t allocations = 0, bytes_in_use = 0, peak_bytes_in_use = 0, largest_allocation = 0;
  };

  // `queue` fills the first bytes of each block, which makes drivers that allocate late say so now.
  // `limit` is what the device has in bytes.
  Memory(cl_context context, cl_command_queue queue, int64_t limit)
      : context_(context), queue_(queue), limit_(limit) {}
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // NULL if the device has no such memory left, if the driver refuses, or for no bytes. Deallocate
  // takes what Allocate returned, and does nothing for any other address.
  void* Allocate(uint64_t size);
  void Deallocate(const void* address);

  // The place of `size` bytes, until Deallocate. Throws INVALID_ARGUMENT unless one block has all
  // of these bytes.
  Place Find(const void* address, uint64_t size) const;

  Stats stats() const;
  int64_t limit() const { return limit_; }

 private:
  struct Block {
    uintptr_t begin;
    uint64_t size;
    Buffer buffer;
  };
  std::vector<Block>::const_iterator At(uintptr_t address) const;

  const cl_context context_;
  const cl_command_queue queue_;
  const int64_t limit_;
  mutable std::shared_mutex mutex_;
  std::vector<Block> blocks_;  // by address
  Stats stats_;
};

}  // namespace opencl
