#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "status.h"

namespace opencl {
namespace {

// NULL if the device or the driver has no such memory.
Buffer NewBuffer(cl_context context, cl_command_queue queue, uint64_t size) {
  cl_int code = CL_SUCCESS;
  Buffer buffer(clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code));
  if (code != CL_SUCCESS) return Buffer();
  const cl_uchar zero = 0;
  code = clEnqueueFillBuffer(queue, buffer.get(), &zero, sizeof(zero), 0,
                             std::min<uint64_t>(size, 64), 0, nullptr, nullptr);
  if (code == CL_SUCCESS) code = clFinish(queue);
  return code == CL_SUCCESS ? std::move(buffer) : Buffer();
}

}  // namespace

Memory::~Memory() {
  for (const Block& block : blocks_) munmap(reinterpret_cast<void*>(block.begin), block.size);
}

void* Memory::Allocate(uint64_t size) {
  if (size == 0) return nullptr;
  Buffer buffer = NewBuffer(context_, queue_, size);
  if (!buffer) return nullptr;
  void* range = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(range);
  std::unique_lock lock(mutex_);
  const auto behind = std::find_if(blocks_.begin(), blocks_.end(),
                                   [begin](const Block& block) { return block.begin > begin; });
  blocks_.insert(behind, Block{begin, size, std::move(buffer)});
  const auto bytes = static_cast<int64_t>(size);
  ++stats_.allocations;
  stats_.bytes_in_use += bytes;
  stats_.peak_bytes_in_use = std::max(stats_.peak_bytes_in_use, stats_.bytes_in_use);
  stats_.largest_allocation = std::max(stats_.largest_allocation, bytes);
  return range;
}

// The block that holds the address, or the end.
std::vector<Memory::Block>::const_iterator Memory::At(uintptr_t address) const {
  auto block = std::upper_bound(
      blocks_.begin(), blocks_.end(), address,
      [](uintptr_t value, const Block& candidate) { return value < candidate.begin; });
  if (block == blocks_.begin()) return blocks_.end();
  --block;
  return address - block->begin < block->size ? block : blocks_.end();
}

void Memory::Deallocate(const void* address) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  std::unique_lock lock(mutex_);
  const auto block = At(begin);
  if (block == blocks_.end() || block->begin != begin) return;
  stats_.bytes_in_use -= static_cast<int64_t>(block->size);
  munmap(reinterpret_cast<void*>(block->begin), block->size);
  blocks_.erase(block);
}

Place Memory::Find(const void* address, uint64_t size) const {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  std::shared_lock lock(mutex_);
  const auto block = At(begin);
  if (block != blocks_.end() && size <= block->size - (begin - block->begin))
    return {block->buffer.get(), begin - block->begin};
  throw Error(TF_INVALID_ARGUMENT, "OpenCL: " + std::to_string(size) +
                                       " bytes at an address that is not in device memory");
}

Memory::Stats Memory::stats() const {
  std::shared_lock lock(mutex_);
  return stats_;
}

}  // namespace opencl
