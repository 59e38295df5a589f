#include "apu_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "apu_pace.h"

namespace apu {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kHostAlignment = 64;  // as TensorFlow promises to kernels
// Bytes: the pages of a smaller block are not worth a system call.
constexpr uint64_t kGiveBackFrom = 1 << 20;

// Makes both mappings in one reserved range, so that their distance is the capacity. NULL, with
// errno set, if the system refuses.
char* MapTwice(int file, size_t capacity) {
  void* range =
      mmap(nullptr, 2 * capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return nullptr;
  char* base = static_cast<char*>(range);
  const bool mapped =
      mmap(base, capacity, PROT_NONE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED &&
      mmap(base + capacity, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
          MAP_FAILED;
  if (mapped) return base;
  munmap(base, 2 * capacity);
  return nullptr;
}

}  // namespace

std::unique_ptr<DeviceMemory> DeviceMemory::Create(size_t capacity) {
  const int file = memfd_create("apu", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  char* base =
      ftruncate(file, static_cast<off_t>(capacity)) == 0 ? MapTwice(file, capacity) : nullptr;
  if (base == nullptr) {
    close(file);
    return nullptr;
  }
  return std::unique_ptr<DeviceMemory>(new DeviceMemory(base, capacity, file));
}

DeviceMemory::DeviceMemory(char* base, size_t capacity, int file)
    : base_(base), capacity_(capacity), file_(file), free_{{0, capacity}} {
  stats_.capacity = static_cast<int64_t>(capacity);
}

DeviceMemory::~DeviceMemory() {
  munmap(base_, 2 * capacity_);
  close(file_);
}

void* DeviceMemory::Allocate(uint64_t size) {
  if (size == 0 || size > capacity_) return nullptr;
  size = (size + kAlignment - 1) / kAlignment * kAlignment;
  std::lock_guard lock(mutex_);
  const auto block = std::find_if(free_.begin(), free_.end(),
                                  [size](const auto& entry) { return entry.second >= size; });
  if (block == free_.end()) return nullptr;
  const auto [offset, available] = *block;
  used_.emplace(offset, size);
  free_.erase(block);
  if (available > size) free_.emplace(offset + size, available - size);

  const auto bytes = static_cast<int64_t>(size);
  ++stats_.allocations;
  stats_.bytes_in_use += bytes;
  stats_.peak_bytes_in_use = std::max(stats_.peak_bytes_in_use, stats_.bytes_in_use);
  stats_.largest_allocation = std::max(stats_.largest_allocation, bytes);
  return base_ + offset;
}

void DeviceMemory::Deallocate(void* address) {
  std::lock_guard lock(mutex_);
  const auto block = used_.find(static_cast<uint64_t>(static_cast<char*>(address) - base_));
  if (block == used_.end()) return;
  uint64_t offset = block->first;
  uint64_t size = block->second;
  used_.erase(block);
  stats_.bytes_in_use -= static_cast<int64_t>(size);
  if (size >= kGiveBackFrom) {
    // Gives the pages back to the system. An error costs nothing but the pages.
    (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(size));
  }
  const auto next = free_.lower_bound(offset);
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      size += previous->second;
    }
  }
  if (next != free_.end() && offset + size == next->first) {
    size += next->second;
    free_.erase(next);
  }
  free_[offset] = size;
}

char* DeviceMemory::Reach(const void* address, uint64_t size) const {
  const uintptr_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base_);
  if (offset > capacity_ || size > capacity_ - offset) return nullptr;
  return base_ + capacity_ + offset;
}

DeviceMemory::Stats DeviceMemory::GetStats() const {
  std::lock_guard lock(mutex_);
  Stats stats = stats_;
  for (const auto& [offset, size] : free_) {
    stats.largest_free_block = std::max(stats.largest_free_block, static_cast<int64_t>(size));
  }
  return stats;
}

HostMemory::~HostMemory() {
  for (const auto& [address, size] : blocks_) std::free(const_cast<char*>(address));
}

void* HostMemory::Allocate(uint64_t size) {
  std::lock_guard lock(mutex_);
  const uint64_t most = Pace::Get().host_memory();
  if (size > most || in_use_ > most - size) return nullptr;
  const uint64_t rounded = (size + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
  std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(kHostAlignment, rounded),
                                                    &std::free);
  if (block == nullptr) return nullptr;
  blocks_.emplace(static_cast<const char*>(block.get()), size);
  in_use_ += size;
  return block.release();
}

void HostMemory::Deallocate(void* address) {
  std::lock_guard lock(mutex_);
  const auto block = blocks_.find(static_cast<const char*>(address));
  if (block == blocks_.end()) return;
  in_use_ -= block->second;
  blocks_.erase(block);
  std::free(address);
}

bool HostMemory::Holds(const void* address, uint64_t size) const {
  const char* const first = static_cast<const char*>(address);
  std::lock_guard lock(mutex_);
  const auto behind = blocks_.upper_bound(first);
  if (behind == blocks_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(behind);
  return size <= bytes && static_cast<uint64_t>(first - begin) <= bytes - size;
}

}  // namespace apu
