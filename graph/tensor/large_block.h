// Memory of whole pages, straight from the system. In the C library's heap, blocks of ever new
// sizes leave holes that the process keeps; these leave nothing. The functions are
// thread-safe.
#pragma once

#include <cstddef>

namespace tenon {

// The largest block, nearly a tebibyte: more is a mistake in a shape, and sanitizers' allocators
// end the process over it.
inline constexpr size_t kMaxBlockBytes = (size_t{1} << 40) - (size_t{1} << 24);

// Allocates a block with undefined contents, aligned to a page at least. Blocks of 2 MiB or more
// are aligned to huge pages and ask for them, which makes the first touch several times cheaper.
// Returns null when memory is short, and above kMaxBlockBytes; 0 bytes take a page. Under ASan and
// TSan the block comes from malloc, so that the sanitizer sees its bounds.
void* AllocateLargeBlock(size_t bytes);
// Gives a block of AllocateLargeBlock(bytes) back to the system. It must not be null.
void FreeLargeBlock(void* block, size_t bytes);

}  // namespace tenon
