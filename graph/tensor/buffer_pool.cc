// Freed buffers are kept by size class: small ones in a magazine of the thread, without a lock,
// others in a depot that all threads share. The allocator would return large blocks to the kernel,
// and each new one would cost page faults.

#include "graph/tensor/buffer_pool.h"

#include <array>
#include <bit>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "graph/base/sanitizers.h"
#include "graph/tensor/tensor.h"

namespace tenon {
namespace {

constexpr size_t kLargest = size_t{8} << 20;
constexpr size_t kMostOfThread = size_t{256} << 10;
constexpr size_t kMostOfAll = size_t{64} << 20;

// The class of a capacity: four sizes per power of two, from one cache line on. Rounding wastes at
// most a quarter, and a class serves many shapes. `bits` is the number of binary digits of `lines`;
// the two digits behind the first one choose among the four.
constexpr int ClassOf(size_t capacity) {
  const size_t lines = capacity / kTensorAlignment;
  const int bits = static_cast<int>(std::bit_width(lines));
  return bits <= 3 ? static_cast<int>(lines)
                   : (bits - 2) * 4 + static_cast<int>(lines >> (bits - 3) & 3);
}
constexpr int kClasses = ClassOf(kLargest) + 1;
constexpr int kPerClass = 8;

// The buffers of one thread: taken and given back without a lock.
struct Magazine {
  std::array<std::array<Buffer*, kPerClass>, kClasses> buffers;
  std::array<int, kClasses> count{};
  size_t bytes = 0;
};

// The buffers of all threads: those that are too large or too many for a magazine.
struct Depot {
  absl::Mutex mutex;
  std::array<std::vector<Buffer*>, kClasses> buffers ABSL_GUARDED_BY(mutex);
  size_t bytes ABSL_GUARDED_BY(mutex) = 0;
};
Depot& TheDepot() {
  // Never destroyed: tensors with static storage may be freed after any destructor of ours.
  static auto* const depot = new Depot;
  return *depot;
}

[[gnu::tls_model("initial-exec")]] thread_local Magazine* magazine = nullptr;
thread_local bool thread_ends = false;  // a later destructor of the thread may still free tensors

bool GiveToDepot(Buffer* buffer, size_t capacity) {
  Depot& depot = TheDepot();
  absl::MutexLock lock(&depot.mutex);
  if (depot.bytes + capacity > kMostOfAll) return false;
  depot.bytes += capacity;
  depot.buffers[ClassOf(capacity)].push_back(buffer);
  return true;
}

Buffer* TakeFromDepot(size_t capacity) {
  Depot& depot = TheDepot();
  absl::MutexLock lock(&depot.mutex);
  std::vector<Buffer*>& buffers = depot.buffers[ClassOf(capacity)];
  if (buffers.empty()) return nullptr;
  Buffer* const buffer = buffers.back();
  buffers.pop_back();
  depot.bytes -= capacity;
  return buffer;
}

// Frees the buffers of a thread that ends. `magazine` itself is a plain pointer, so that the usual
// access needs no guard of a thread_local with a destructor.
struct MagazineOwner {
  ~MagazineOwner() {
    thread_ends = true;
    for (int c = 0; c < kClasses; ++c) {
      for (int i = 0; i < magazine->count[c]; ++i) Buffer::Free(magazine->buffers[c][i]);
    }
    delete magazine;
    magazine = nullptr;
  }
};

Magazine* MagazineOfThread() {
  if (magazine == nullptr && !thread_ends) {
    magazine = new Magazine;
    static thread_local MagazineOwner owner;
    (void)&owner;
  }
  return magazine;
}

}  // namespace

size_t PooledCapacity(size_t bytes) {
  const size_t lines = bytes == 0 ? 1 : (bytes + kTensorAlignment - 1) / kTensorAlignment;
  if (bytes > kLargest || lines < 8) return lines * kTensorAlignment;
  const size_t step = std::bit_floor(lines) / 4;
  return (lines + step - 1) / step * step * kTensorAlignment;
}

Buffer* TakeFromPool(size_t capacity) {
  if (kSanitized || capacity > kLargest) return nullptr;
  Magazine* const own = capacity <= kMostOfThread ? magazine : nullptr;
  if (own != nullptr) {
    const int c = ClassOf(capacity);
    if (own->count[c] > 0) {
      own->bytes -= capacity;
      return own->buffers[c][--own->count[c]];
    }
  }
  return TakeFromDepot(capacity);
}

bool GiveToPool(Buffer* buffer, size_t capacity) {
  if (kSanitized || capacity > kLargest) return false;
  const int c = ClassOf(capacity);
  Magazine* const own = capacity <= kMostOfThread ? MagazineOfThread() : nullptr;
  if (own != nullptr && own->count[c] < kPerClass && own->bytes + capacity <= kMostOfThread) {
    own->bytes += capacity;
    own->buffers[c][own->count[c]++] = buffer;
    return true;
  }
  return GiveToDepot(buffer, capacity);
}

}  // namespace tenon
