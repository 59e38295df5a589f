// Freed buffers are kept by size class: small ones in a magazine of the thread, without a lock,
// others in a depot that all threads share. The allocator would return large blocks to the kernel,
// and each new one would cost page faults.

#include "graph/tensor/buffer_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "graph/base/sanitizers.h"
#include "graph/tensor/tensor.h"

namespace tenon {
namespace {

constexpr size_t kMostOfThread = size_t{256} << 10;
constexpr size_t kLeastOfAll = size_t{4} << 20, kMostOfAll = size_t{64} << 20;

// The class of a capacity: four sizes per power of two, from one cache line on. Rounding wastes at
// most a quarter, and a class serves many shapes. `bits` is the number of binary digits of `lines`;
// the two digits behind the first one choose among the four.
constexpr int ClassOf(size_t capacity) {
  const size_t lines = capacity / kTensorAlignment;
  const int bits = static_cast<int>(std::bit_width(lines));
  return bits <= 3 ? static_cast<int>(lines)
                   : (bits - 2) * 4 + static_cast<int>(lines >> (bits - 3) & 3);
}
constexpr int kClasses = ClassOf(kMaxPooled) + 1;
constexpr int kPerClass = 8;

// The buffers of one thread: taken and given back without a lock.
struct Magazine {
  std::array<std::array<Buffer*, kPerClass>, kClasses> buffers;
  std::array<int, kClasses> count{};
  size_t bytes = 0;
};

// The buffers of all threads: those that are too large or too many for a magazine.
class Depot {
 public:
  // As TakeFromPool.
  Buffer* Take(size_t capacity);
  // As CountNewBuffer.
  void CountNew(size_t capacity);
  // Takes the buffer over. Frees buffers that have lain here longest until the rest is within the
  // bound; the new one may be among them.
  void Give(Buffer* buffer, size_t capacity);

 private:
  struct Kept {
    Buffer* buffer;
    size_t capacity;
    int64_t since;  // in calls of Give
  };
  void CountUse(size_t capacity) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The bytes to keep: as many as were in use at once of late. A program whose tensors have ever
  // new sizes shall not hold them all.
  size_t Bound() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes the buffer that has lain here longest, if there is more than Bound; else null.
  Buffer* Excess() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // After so many calls of Give, what was in use before them counts no more.
  static constexpr int64_t kWindow = 4096;

  absl::Mutex mutex_;
  std::array<std::vector<Kept>, kClasses> kept_ ABSL_GUARDED_BY(mutex_);  // kept last: last
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t gives_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of buffers that are too large for a magazine: the bytes in use, and the most at once in this
  // window and in the one before it.
  size_t in_use_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t most_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t most_before_ ABSL_GUARDED_BY(mutex_) = 0;
};

Depot& TheDepot() {
  // Never destroyed: tensors with static storage may be freed after any destructor of ours.
  static auto* const depot = new Depot;
  return *depot;
}

Buffer* Depot::Take(size_t capacity) {
  absl::MutexLock lock(&mutex_);
  std::vector<Kept>& kept = kept_[ClassOf(capacity)];
  if (kept.empty()) return nullptr;
  Buffer* const buffer = kept.back().buffer;
  kept.pop_back();
  bytes_ -= capacity;
  CountUse(capacity);
  return buffer;
}

void Depot::CountNew(size_t capacity) {
  absl::MutexLock lock(&mutex_);
  CountUse(capacity);
}

void Depot::CountUse(size_t capacity) {
  if (capacity <= kMostOfThread) return;
  in_use_ += capacity;
  most_ = std::max(most_, in_use_);
}

void Depot::Give(Buffer* buffer, size_t capacity) {
  Buffer* excess;  // freed outside the lock: giving memory back to the system takes time
  {
    absl::MutexLock lock(&mutex_);
    kept_[ClassOf(capacity)].push_back({buffer, capacity, gives_ + 1});
    bytes_ += capacity;
    if (capacity > kMostOfThread) in_use_ -= std::min(in_use_, capacity);
    if (++gives_ % kWindow == 0) most_before_ = std::exchange(most_, in_use_);
    excess = Excess();
  }
  while (excess != nullptr) {
    Buffer::Free(excess);
    absl::MutexLock lock(&mutex_);
    excess = Excess();
  }
}

size_t Depot::Bound() const {
  return std::clamp(std::max(most_, most_before_), kLeastOfAll, kMostOfAll);
}

Buffer* Depot::Excess() {
  if (bytes_ <= Bound()) return nullptr;
  std::vector<Kept>* oldest = nullptr;
  for (std::vector<Kept>& kept : kept_) {
    if (!kept.empty() && (oldest == nullptr || kept[0].since < (*oldest)[0].since)) oldest = &kept;
  }
  const Kept found = oldest->front();
  oldest->erase(oldest->begin());
  bytes_ -= found.capacity;
  return found.buffer;
}

[[gnu::tls_model("initial-exec")]] thread_local Magazine* magazine = nullptr;
thread_local bool thread_ends = false;  // a later destructor of the thread may still free tensors

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
    magazine = new (std::nothrow) Magazine;
    if (magazine == nullptr) return nullptr;
    static thread_local MagazineOwner owner;
    (void)&owner;
  }
  return magazine;
}

}  // namespace

size_t PooledCapacity(size_t bytes) {
  const size_t lines = bytes == 0 ? 1 : (bytes + kTensorAlignment - 1) / kTensorAlignment;
  if (bytes > kMaxPooled || lines < 8) return lines * kTensorAlignment;
  const size_t step = std::bit_floor(lines) / 4;
  return (lines + step - 1) / step * step * kTensorAlignment;
}

Buffer* TakeFromPool(size_t capacity) {
  if (kSanitized || capacity > kMaxPooled) return nullptr;
  Magazine* const own = capacity <= kMostOfThread ? magazine : nullptr;
  if (own != nullptr) {
    const int c = ClassOf(capacity);
    if (own->count[c] > 0) {
      own->bytes -= capacity;
      return own->buffers[c][--own->count[c]];
    }
  }
  return TheDepot().Take(capacity);
}

void CountNewBuffer(size_t capacity) {
  if (!kSanitized && capacity > kMostOfThread && capacity <= kMaxPooled)
    TheDepot().CountNew(capacity);
}

bool GiveToPool(Buffer* buffer, size_t capacity) {
  if (kSanitized || capacity > kMaxPooled) return false;
  const int c = ClassOf(capacity);
  Magazine* const own = capacity <= kMostOfThread ? MagazineOfThread() : nullptr;
  if (own != nullptr && own->count[c] < kPerClass && own->bytes + capacity <= kMostOfThread) {
    own->bytes += capacity;
    own->buffers[c][own->count[c]++] = buffer;
    return true;
  }
  try {
    TheDepot().Give(buffer, capacity);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace tenon
