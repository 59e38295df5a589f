// Keeps freed buffers to be used again, so that a run whose tensors have the sizes of an earlier
// run's allocates less from the system. A part of Buffer (tensor.h), which is the only caller.
// Thread-safe.
#pragma once

#include <cstddef>

namespace tenon {

class Buffer;

// The largest capacity that the pool keeps.
inline constexpr size_t kMaxPooled = size_t{8} << 20;

// Returns the capacity, in bytes, of a block for `bytes` bytes: rounded up to one of four sizes per
// power of two. Blocks below 512 bytes and above 8 MiB are rounded up to a cache line only; 0 bytes
// take one cache line.
size_t PooledCapacity(size_t bytes);

// Returns a kept buffer whose capacity is `capacity`, a result of PooledCapacity. The buffer has no
// references and belongs to the caller; its contents are undefined. Returns null if neither this
// thread's part of the pool nor the part that all threads share has such a buffer.
Buffer* TakeFromPool(size_t capacity);

// Counts as in use a new buffer with the capacity for which TakeFromPool has found none. Only
// capacities above 256 KiB that the pool keeps are counted.
void CountNewBuffer(size_t capacity);

// Takes over a buffer of Buffer::Allocate without references and returns true, or returns false:
// then the caller frees the buffer. `capacity` is PooledCapacity of its bytes. A thread keeps up to
// 256 KiB for itself, in at most eight buffers of a capacity, without a lock, and frees them when
// it ends. The part of the pool that all threads share has a limit: the bytes that buffers of more
// than 256 KiB took at once of late, but at least 4 MiB and at most 64 MiB. Beyond the limit it
// frees the buffers that it has kept longest. Under ASan and TSan nothing is kept, so that the
// sanitizer sees the end of each tensor.
bool GiveToPool(Buffer* buffer, size_t capacity);

}  // namespace tenon
