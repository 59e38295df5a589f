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

// Thread-safe.
class DeviceMemory {
 public:
  struct Stats {
    int64_t allocations = 0;
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

  // A device address aligned to 256 bytes, or NULL if there is no room.
  void* Allocate(uint64_t size);

  // Takes back what Allocate returned; other addresses are ignored.
  void Deallocate(void* address);

  // Where the plug-in finds the `size` bytes at a device address; NULL if they are not all inside
  // the device's memory.
  char* Reach(const void* address, uint64_t size) const;

  Stats GetStats() const;

 private:
  DeviceMemory(char* base, size_t capacity, int file);

  char* const base_;  // first byte of the inaccessible mapping; the other one follows it
  const size_t capacity_;
  const int file_;

  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> free_;  // offset -> size, never adjacent
  std::map<uint64_t, uint64_t> used_;
  Stats stats_;
};

}  // namespace apu
