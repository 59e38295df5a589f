// The system aligns to pages only, so a block that wants huge pages is mapped with room to spare,
// and what is over at both ends goes back at once.

#include "graph/tensor/large_block.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "graph/base/sanitizers.h"

namespace tenon {
namespace {

constexpr size_t kPage = 4096, kHugePage = size_t{2} << 20;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

char* Map(size_t bytes) {
  void* const data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<char*>(data);
}

}  // namespace

void* AllocateLargeBlock(size_t bytes) {
  if (bytes > kMaxBlockBytes) return nullptr;
  const size_t size = RoundUp(bytes == 0 ? 1 : bytes, kPage);
  if (kSanitized) return std::aligned_alloc(kPage, size);
  if (size < kHugePage) return Map(size);
  char* const mapped = Map(size + kHugePage);
  if (mapped == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(mapped);
  const size_t before = RoundUp(address, kHugePage) - address;
  char* const block = mapped + before;
  if (before > 0) munmap(mapped, before);
  if (before < kHugePage) munmap(block + size, kHugePage - before);
  // Whole huge pages only: the rest of the last one would be memory beyond what the caller asked
  // for.
  madvise(block, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  return block;
}

void FreeLargeBlock(void* block, size_t bytes) {
  if (kSanitized) return std::free(block);
  munmap(block, RoundUp(bytes == 0 ? 1 : bytes, kPage));
}

}  // namespace tenon
