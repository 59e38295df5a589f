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

// Threads take turns in the choice of a counter: one for all of them would be a bottleneck of runs
// at the same time, which come through here at each allocation.
struct alignas(64) Counter {
  std::atomic<int64_t> allocations{0};
};
constexpr unsigned kCounters = 64;
Counter counters[kCounters];
std::atomic<unsigned> next_counter{0};

// Relaxed: only the sum matters.
inline void Note() {
  if (!counting.load(std::memory_order_relaxed)) return;
  static thread_local Counter* counter = nullptr;
  if (counter == nullptr)
    counter = &counters[next_counter.fetch_add(1, std::memory_order_relaxed) % kCounters];
  counter->allocations.fetch_add(1, std::memory_order_relaxed);
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
  int64_t sum = 0;
  for (const Counter& counter : counters) sum += counter.allocations.load();
  return sum;
}

}  // namespace graph_run

#endif
