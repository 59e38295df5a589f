#include "tests/executor/session/heap_count_util.h"

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

namespace tenon::testing {
std::optional<int64_t> HeapAllocations() { return std::nullopt; }
}  // namespace tenon::testing

#else

namespace {
thread_local int64_t allocations = 0;
}

// Stand before the C library's, which `new` calls too.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
}  // extern "C"

namespace tenon::testing {
std::optional<int64_t> HeapAllocations() { return allocations; }
}  // namespace tenon::testing

#endif
