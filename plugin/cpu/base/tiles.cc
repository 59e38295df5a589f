// Tiles run on the workers. A free slot of scratch memory is a bit in one atomic word: a range
// takes the lowest set bit and gives it back when done.
#include "plugin/cpu/base/tiles.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "plugin/cpu/base/workers.h"

namespace tenon::cpu {
namespace {

// One bit of Slots::free_ for each slot.
constexpr int kMaxSlots = 64;

int SlotsFor(int threads, int64_t tiles) {
  return static_cast<int>(std::min<int64_t>({threads, tiles, kMaxSlots}));
}

// Gives each concurrent caller a number below `count`. More callers than numbers are rare: threads
// of other runs that wait for tasks may help a loop beyond threads(). The caller that finds no
// number waits for another's range to end.
class Slots {
 public:
  explicit Slots(int count) : free_(count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) {}
  // A number until the end of the object's life, which an exception of the caller ends, too.
  class Holder {
   public:
    explicit Holder(Slots& slots) : slots_(slots), slot_(slots.Take()) {}
    ~Holder() { slots_.Return(slot_); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    int slot() const { return slot_; }

   private:
    Slots& slots_;
    const int slot_;
  };

 private:
  int Take() {
    uint64_t free = free_.load(std::memory_order_relaxed);
    while (free == 0 ||
           !free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire)) {
      if (free != 0) continue;
      std::this_thread::yield();
      free = free_.load(std::memory_order_relaxed);
    }
    return __builtin_ctzll(free);
  }
  void Return(int slot) { free_.fetch_or(uint64_t{1} << slot, std::memory_order_release); }

  std::atomic<uint64_t> free_;
};

}  // namespace

absl::Status ForEachTile(const StepArgs& args, int64_t tiles, size_t slot_bytes,
                         absl::FunctionRef<absl::Status(int64_t tile, char* scratch)> body) {
  char* const scratch = static_cast<char*>(args.scratch);
  // One thread uses the first slot only, which is there even if no other is.
  if (tiles == 1 || args.workers->threads() == 1) {
    for (int64_t t = 0; t < tiles; ++t) {
      absl::Status status = body(t, scratch);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  Slots slots(SlotsFor(args.workers->threads(), tiles));
  std::mutex mutex;
  absl::Status first;
  // The lowest tile that failed. Tiles below it still run, so that the returned error does not
  // depend on timing.
  std::atomic<int64_t> failed = tiles;
  // A slot serves a whole range: taking it costs one atomic operation for all tiles of the range.
  args.workers->ParallelFor(tiles, 1, [&](int64_t begin, int64_t end) {
    const Slots::Holder held(slots);
    for (int64_t t = begin; t < end && t < failed.load(std::memory_order_relaxed); ++t) {
      absl::Status status = body(t, scratch + held.slot() * slot_bytes);
      if (status.ok()) continue;
      const std::lock_guard lock(mutex);
      // Another range may have failed at a lower tile since the test above.
      if (t > failed) continue;
      failed = t;
      first = std::move(status);
    }
  });
  return first;
}

size_t TileScratchBytes(const Workers& workers, int64_t tiles, size_t slot_bytes) {
  // The single-threaded path needs one slot even for no tiles.
  return slot_bytes * SlotsFor(workers.threads(), std::max<int64_t>(tiles, 1));
}

namespace {

int64_t TilesOf(double flops, double tile_flops, int64_t most) {
  // The inner minimum keeps the conversion to int64 defined for any number of operations.
  return std::clamp<int64_t>(static_cast<int64_t>(std::min(flops / tile_flops, 1e6)), 1, most);
}

}  // namespace

int64_t TilesFor(double flops) {
  constexpr double kTileFlops = 8e6;  // some 40 us of one core
  constexpr int64_t kMostTiles = 16;
  return TilesOf(flops, kTileFlops, kMostTiles);
}

int64_t TilesFor(const Workers& workers, double flops) {
  constexpr double kTileFlops = 5e5;
  constexpr int64_t kMostTiles = 64, kTilesOfThread = 4;
  if (workers.threads() == 1) return 1;
  return TilesOf(flops, kTileFlops, std::min(kMostTiles, kTilesOfThread * workers.threads()));
}

}  // namespace tenon::cpu
