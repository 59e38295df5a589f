#include "plugin/device/bfc_allocator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <deque>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace tenon {
namespace {

// The alignment that Device::Allocate promises, and TensorFlow's smallest chunk.
constexpr size_t kUnit = 256;
// The first region of an allocator that grows; TensorFlow starts at the same size.
constexpr size_t kFirstRegion = size_t{2} << 20;
constexpr int kBins = 40;  // bin b holds free chunks of [256 << b, 256 << (b + 1)) bytes

size_t RoundUp(size_t bytes) { return std::max(kUnit, (bytes + kUnit - 1) / kUnit * kUnit); }

// The last bin also holds all that is larger.
int BinOf(size_t bytes) {
  return std::min(kBins - 1, static_cast<int>(std::bit_width(bytes / kUnit)) - 1);
}

}  // namespace

// The allocator's state. The BfcAllocator and each buffer have a share of it, since buffers may
// outlive the allocator.
class BfcAllocator::Core {
 public:
  Core(RegionSource* source, BfcOptions options)
      : source_(source), options_(std::move(options)), next_region_(kFirstRegion) {}

  absl::StatusOr<BufferRef> Allocate(size_t bytes);
  // Frees the regions. Chunks that are released later touch no memory of the device.
  void Close();
  void Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  BfcStats stats() const {
    absl::MutexLock lock(&mutex_);
    return stats_;
  }

 private:
  // A piece of a region. Each chunk is in a list of its region's chunks in the order of addresses,
  // so that free neighbours merge. A free chunk is also in the list of its bin, to be found.
  struct Chunk {
    Core* core = nullptr;
    char* data = nullptr;
    size_t bytes = 0;
    bool free = false;
    Chunk* before = nullptr;
    Chunk* after = nullptr;
    Chunk* previous_free = nullptr;
    Chunk* next_free = nullptr;
  };
  // Chunks that are not free, linked by next_free: putting one in takes no memory. The first one in
  // is the first one out.
  struct Queue {
    void Push(Chunk* chunk) {
      chunk->next_free = nullptr;
      (first == nullptr ? first : last->next_free) = chunk;
      last = chunk;
    }
    Chunk* Pop() {
      Chunk* const chunk = first;
      first = std::exchange(chunk->next_free, nullptr);
      return chunk;
    }

    Chunk* first = nullptr;  // null: the queue is empty
    Chunk* last = nullptr;
  };
  struct Region {
    void* data;
    size_t bytes;
  };

  static void Release(void*, size_t, void* arg) {
    Chunk* chunk = static_cast<Chunk*>(arg);
    Core* core = chunk->core;
    core->options_.watch == nullptr ? core->Free(chunk) : core->FreeWatched(chunk);
    core->Unref();
  }

  absl::StatusOr<BufferRef> Take(size_t bytes);
  void Free(Chunk* chunk);
  void FreeWatched(Chunk* chunk);
  void EndRests(size_t keep);
  Chunk* FindFree(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Chunk* Take(Chunk* chunk, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Grow(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Chunk* NewChunk() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Recycle(Chunk* chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { spare_.push_back(chunk); }
  void Link(Chunk* chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlink(Chunk* chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MergeWithNext(Chunk* chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::atomic<int64_t> refs_{1};
  RegionSource* source_ ABSL_GUARDED_BY(mutex_);  // null once closed
  const BfcOptions options_;
  size_t next_region_ ABSL_GUARDED_BY(mutex_);
  std::vector<Region> regions_ ABSL_GUARDED_BY(mutex_);
  std::deque<Chunk> chunks_ ABSL_GUARDED_BY(mutex_);   // stable addresses
  std::vector<Chunk*> spare_ ABSL_GUARDED_BY(mutex_);  // elements of chunks_ without memory
  // With a watch, a released chunk is first in returned_, until the watch may be called, then in
  // resting_, the oldest first, and only then free.
  Queue returned_ ABSL_GUARDED_BY(mutex_);
  Queue resting_ ABSL_GUARDED_BY(mutex_);
  size_t resting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int telling_ ABSL_GUARDED_BY(mutex_) = 0;  // calls of FreeWatched that have not ended
  std::array<Chunk*, kBins> bins_ ABSL_GUARDED_BY(mutex_) = {};
  BfcStats stats_ ABSL_GUARDED_BY(mutex_);
};

// Chunks rest only as long as there is memory: a program must not fail because it is watched.
absl::StatusOr<BufferRef> BfcAllocator::Core::Allocate(size_t bytes) {
  absl::StatusOr<BufferRef> buffer = Take(bytes);
  if (buffer.ok() || options_.watch == nullptr) return buffer;
  EndRests(0);
  return Take(bytes);
}

absl::StatusOr<BufferRef> BfcAllocator::Core::Take(size_t bytes) {
  if (bytes == 0) return BufferRef::Adopt(Buffer::Wrap(nullptr, 0, nullptr, nullptr));
  const size_t rounded = RoundUp(bytes + 2 * options_.zone);  // below `bytes`: it overflowed
  Chunk* chunk = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    chunk = rounded < bytes ? nullptr : FindFree(rounded);
    if (chunk == nullptr) {
      if (absl::Status grown =
              rounded < bytes ? absl::ResourceExhaustedError("not a size") : Grow(rounded);
          !grown.ok()) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "out of memory on ", options_.name, ": ", bytes, " bytes asked for, ",
            stats_.bytes_in_use, " of ", options_.limit_bytes, " in use; ", grown.message()));
      }
      chunk = FindFree(rounded);
    }
    chunk = Take(chunk, rounded);
    ++stats_.num_allocs;
    stats_.bytes_in_use += static_cast<int64_t>(chunk->bytes);
    stats_.peak_bytes_in_use = std::max(stats_.peak_bytes_in_use, stats_.bytes_in_use);
  }
  refs_.fetch_add(1, std::memory_order_relaxed);  // for the buffer
  char* const data = chunk->data + options_.zone;
  if (options_.watch != nullptr) options_.watch->Given(data, bytes);
  return BufferRef::Adopt(Buffer::OfDevice(data, bytes, Release, chunk));
}

// Calls the watch only where that is allowed: a plug-in that releases a tensor may hold locks that
// its copies need. At most an eighth of the memory rests.
void BfcAllocator::Core::FreeWatched(Chunk* chunk) {
  {
    absl::MutexLock lock(&mutex_);
    if (source_ == nullptr) return;  // what the watch looks after is gone too
    returned_.Push(chunk);
    ++telling_;
  }
  if (options_.watch->IsFree()) EndRests(options_.limit_bytes / 8);
  absl::MutexLock lock(&mutex_);
  --telling_;
}

// Tells the watch of what was returned, and frees resting chunks, the oldest first, until at most
// `keep` bytes rest. Calls the watch without the lock, since the watch calls the plug-in. A chunk
// rests only once the watch knows of it: another thread may end its rest at once. The allocator
// does not end meanwhile: Close waits for FreeWatched, and Allocate is a call of the allocator.
void BfcAllocator::Core::EndRests(size_t keep) {
  Queue returned, rested;
  {
    absl::MutexLock lock(&mutex_);
    returned = std::exchange(returned_, {});
  }
  for (const Chunk* chunk = returned.first; chunk != nullptr; chunk = chunk->next_free)
    options_.watch->Returned(chunk->data + options_.zone);
  {
    absl::MutexLock lock(&mutex_);
    while (returned.first != nullptr) {
      Chunk* const chunk = returned.Pop();
      resting_.Push(chunk);
      resting_bytes_ += chunk->bytes;
    }
    while (resting_bytes_ > keep) {
      Chunk* const chunk = resting_.Pop();
      rested.Push(chunk);
      resting_bytes_ -= chunk->bytes;
    }
  }
  while (rested.first != nullptr) {
    Chunk* const chunk = rested.Pop();
    options_.watch->Rested(chunk->data + options_.zone);
    Free(chunk);
  }
}

// The smallest free chunk that fits. Bins are tried from the lowest one that may hold it: a chunk
// of a higher bin is larger than all of a lower one.
BfcAllocator::Core::Chunk* BfcAllocator::Core::FindFree(size_t bytes) {
  for (int bin = BinOf(bytes); bin < kBins; ++bin) {
    Chunk* best = nullptr;
    for (Chunk* c = bins_[bin]; c != nullptr; c = c->next_free) {
      if (c->bytes >= bytes && (best == nullptr || c->bytes < best->bytes)) best = c;
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

// Marks a free chunk used and cuts off what is left over.
BfcAllocator::Core::Chunk* BfcAllocator::Core::Take(Chunk* chunk, size_t bytes) {
  Unlink(chunk);
  chunk->free = false;
  if (chunk->bytes - bytes >= kUnit) {
    Chunk* rest = NewChunk();
    rest->data = chunk->data + bytes;
    rest->bytes = chunk->bytes - bytes;
    rest->free = true;
    rest->before = chunk;
    rest->after = chunk->after;
    if (rest->after != nullptr) rest->after->before = rest;
    chunk->after = rest;
    chunk->bytes = bytes;
    Link(rest);
  }
  return chunk;
}

void BfcAllocator::Core::Free(Chunk* chunk) {
  absl::MutexLock lock(&mutex_);
  stats_.bytes_in_use -= static_cast<int64_t>(chunk->bytes);
  if (source_ == nullptr) return;  // the regions are gone
  // No two free chunks are neighbours at any time, so that one merge on either side is enough.
  if (chunk->after != nullptr && chunk->after->free) {
    Unlink(chunk->after);
    MergeWithNext(chunk);
  }
  if (chunk->before != nullptr && chunk->before->free) {
    chunk = chunk->before;
    Unlink(chunk);
    MergeWithNext(chunk);
  }
  chunk->free = true;
  Link(chunk);
}

void BfcAllocator::Core::MergeWithNext(Chunk* chunk) {
  Chunk* next = chunk->after;
  chunk->bytes += next->bytes;
  chunk->after = next->after;
  if (chunk->after != nullptr) chunk->after->before = chunk;
  Recycle(next);
}

// Adds a region of at least `bytes`. Regions double in size, so that their number stays small and
// chunks can merge over long stretches.
absl::Status BfcAllocator::Core::Grow(size_t bytes) {
  if (source_ == nullptr) return absl::ResourceExhaustedError("the device is gone");
  const size_t in_regions = static_cast<size_t>(stats_.region_bytes);
  const size_t left =
      (options_.limit_bytes - std::min(options_.limit_bytes, in_regions)) / kUnit * kUnit;
  if (left < bytes)
    return absl::ResourceExhaustedError("the limit leaves no room for another region");
  size_t region = left;
  if (options_.grow) {
    while (next_region_ < bytes) next_region_ *= 2;
    region = std::min(left, next_region_);
  }
  absl::StatusOr<void*> data = source_->AllocateRegion(region);
  if ((!data.ok() || *data == nullptr) && options_.grow &&
      region > bytes) {  // less, once, rather than nothing
    region = bytes;
    data = source_->AllocateRegion(region);
  }
  if (!data.ok()) return data.status();
  if (*data == nullptr)
    return absl::ResourceExhaustedError(
        absl::StrCat("the plug-in's allocate gave none for ", region, " bytes"));
  next_region_ = region * 2;
  regions_.push_back({*data, region});
  stats_.region_bytes += static_cast<int64_t>(region);
  ++stats_.num_regions;
  Chunk* chunk = NewChunk();
  chunk->data = static_cast<char*>(*data);
  chunk->bytes = region;
  chunk->free = true;
  Link(chunk);
  return absl::OkStatus();
}

BfcAllocator::Core::Chunk* BfcAllocator::Core::NewChunk() {
  Chunk* chunk;
  if (spare_.empty()) {
    chunk = &chunks_.emplace_back();
    spare_.reserve(chunks_.size());  // so that giving back never allocates
  } else {
    chunk = spare_.back();
    spare_.pop_back();
  }
  *chunk = Chunk{};
  chunk->core = this;
  return chunk;
}

void BfcAllocator::Core::Link(Chunk* chunk) {
  Chunk*& head = bins_[BinOf(chunk->bytes)];
  chunk->previous_free = nullptr;
  chunk->next_free = head;
  if (head != nullptr) head->previous_free = chunk;
  head = chunk;
}

void BfcAllocator::Core::Unlink(Chunk* chunk) {
  if (chunk->previous_free != nullptr) {
    chunk->previous_free->next_free = chunk->next_free;
  } else {
    bins_[BinOf(chunk->bytes)] = chunk->next_free;
  }
  if (chunk->next_free != nullptr) chunk->next_free->previous_free = chunk->previous_free;
  chunk->previous_free = chunk->next_free = nullptr;
}

// Chunks that are still out keep their Chunk records, which the buffers point to.
void BfcAllocator::Core::Close() {
  absl::MutexLock lock(&mutex_);
  const auto none = [](int* telling) { return *telling == 0; };
  mutex_.Await(absl::Condition(+none, &telling_));
  for (const Region& region : regions_) source_->FreeRegion(region.data, region.bytes);
  regions_.clear();
  source_ = nullptr;
  bins_.fill(nullptr);
}

BfcAllocator::BfcAllocator(RegionSource* source, BfcOptions options)
    : core_(new Core(source, std::move(options))) {}

BfcAllocator::~BfcAllocator() {
  core_->Close();
  core_->Unref();
}

absl::StatusOr<BufferRef> BfcAllocator::Allocate(size_t bytes) { return core_->Allocate(bytes); }
BfcStats BfcAllocator::stats() const { return core_->stats(); }

}  // namespace tenon
