// Keeps freed buffers to be used again, so that a run whose tensors have the sizes of an earlier
// run's allocates nothing from the system. Thread-safe.
#pragma once

#include <cstddef>

namespace tenon {

class Buffer;

// Returns the capacity of a block for `bytes` bytes: rounded up to one of four sizes per power of
// two. Blocks above 8 MB are rounded up to a cache line only, since the pool does not keep them.
size_t PooledCapacity(size_t bytes);

// Returns a kept buffer of this capacity, which then belongs to the caller; null if the pool has
// none. The contents are undefined.
Buffer* TakeFromPool(size_t capacity);

// Takes ownership of a buffer without references and returns true, or returns false: the caller
// frees the buffer. A thread keeps up to 256 KB for itself; all threads share up to 64 MB more.
// Under a sanitizer nothing is kept, so that the sanitizer sees the end of each tensor.
bool GiveToPool(Buffer* buffer, size_t capacity);

}  // namespace tenon
