// Memory of freed tensors that waits to be used again, so that a run that makes tensors like the
// last one's asks the system for nothing.
#pragma once

#include <cstddef>

namespace tenon {

class Buffer;

// What a block for so many bytes holds: `bytes` rounded up to a size of which there are few. Blocks
// above 8 MB are not kept and not rounded by more than a cache line.
size_t PooledCapacity(size_t bytes);

// A buffer of this capacity that nobody has any more, or null. Its contents are undefined.
Buffer* TakeFromPool(size_t capacity);

// Keeps a buffer that nobody has any more, or says no: it is to be freed. A thread keeps up to
// 256 KB for itself, all together up to 64 MB. Under a sanitizer nothing is kept, so that it sees
// each tensor's end.
bool GiveToPool(Buffer* buffer, size_t capacity);

}  // namespace tenon
