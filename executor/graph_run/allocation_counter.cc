#include "allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

namespace graph_run {
int64_t CountAllocations(bool) { return -1; }
}  // namespace graph_run

#else

namespace {

std::atomic<bool> counting{false};
std::atomic<int64_t> allocations{0};

// Relaxed: only the sum matters, and each allocation of each thread comes through here.
inline void Note() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

extern "C" {

// The C library's own names of its allocator. dlsym cannot find the originals here: it allocates.
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) noexcept {
  Note();
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) noexcept {
  Note();
  return __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) noexcept {
  Note();
  return __libc_realloc(old, size);
}

void* memalign(size_t alignment, size_t size) noexcept {
  Note();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept { return memalign(alignment, size); }

int posix_memalign(void** result, size_t alignment, size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
    return EINVAL;
  void* memory = memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *result = memory;
  return 0;
}

}  // extern "C"

namespace graph_run {

int64_t CountAllocations(bool count) {
  counting.store(count);
  return allocations.load();
}

}  // namespace graph_run

#endif
