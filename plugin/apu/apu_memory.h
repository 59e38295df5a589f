// The device's memory, which only the device can touch.
//
// One memory file is mapped twice, side by side. The first mapping has no access rights: addresses
// in it are what the host gets, and any use of one by the host faults. The second one is readable
// and writable and lies a constant distance further on: the plug-in reaches a byte by adding that
// distance. The host may do arithmetic on its addresses, as TensorFlow's allocator does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace apu {

// Host memory for copies to and from the device. A real device would pin it. Thread-safe. Throws
// std::bad_alloc if there is no memory for its own list.
class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // `size` bytes, aligned to 64. NULL if the system has none, or beyond what Pace::host_memory
  // allows in all.
  void* Allocate(uint64_t size);
  // Frees what Allocate has returned. Ignores any other address, NULL included.
  void Deallocate(void* address);
  // Whether all of these bytes lie in one block of Allocate.
  bool Holds(const void* address, uint64_t size) const;

 private:
  mutable std::mutex mutex_;
  std::map<const char*, uint64_t> blocks_;  // address -> size
  uint64_t in_use_ = 0;
};

// Hands out blocks of the device's memory, first fit. Thread-safe. Throws std::bad_alloc if the
// host has no memory for its own lists.
class DeviceMemory {
 public:
  // All but `allocations` are bytes; sizes of blocks are rounded up to 256.
  struct Stats {
    int64_t allocations = 0;  // all that were ever made
    int64_t bytes_in_use = 0;
    int64_t peak_bytes_in_use = 0;
    int64_t largest_allocation = 0;
    int64_t largest_free_block = 0;
    int64_t capacity = 0;
  };

  // `capacity` bytes, a multiple of the page size; pages take real memory once written. NULL, with
  // errno set, if the system refuses.
  static std::unique_ptr<DeviceMemory> Create(size_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // A device address, aligned to 256 bytes, of `size` bytes with undefined contents. NULL if there
  // is no room, or if `size` is 0.
  void* Allocate(uint64_t size);

  // Takes back a block that Allocate has returned. Ignores any other address, NULL included.
  void Deallocate(void* address);

  // The address at which the plug-in reaches the `size` bytes at a device address. NULL if they are
  // not all inside the device's memory. Does not ask whether they are allocated.
  char* Reach(const void* address, uint64_t size) const;

  Stats GetStats() const;
  // Goes with the device's memory: blocks that were not given back, too.
  HostMemory& host() { return host_; }

 private:
  DeviceMemory(char* base, size_t capacity, int file);

  char* const base_;  // first byte of the inaccessible mapping; the other one follows it
  const size_t capacity_;
  const int file_;  // the memory file
  HostMemory host_;

  mutable std::mutex mutex_;           // guards all below
  std::map<uint64_t, uint64_t> free_;  // offset -> size, never adjacent
  std::map<uint64_t, uint64_t> used_;  // offset -> size
  Stats stats_;
};

}  // namespace apu
