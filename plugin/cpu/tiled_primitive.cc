#include "plugin/cpu/tiled_primitive.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "plugin/cpu/workers.h"

namespace tenon::cpu {
namespace {

constexpr int kMaxSlots = 64;

int SlotsFor(int threads, int64_t tiles) {
  return static_cast<int>(std::min<int64_t>({threads, tiles, kMaxSlots}));
}

size_t Aligned(size_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

// Gives each concurrent caller a number below `count`.
class Slots {
 public:
  explicit Slots(int count) : free_(count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) {}
  int Take() {
    uint64_t free = free_.load(std::memory_order_relaxed);
    while (free == 0 ||
           !free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire)) {
      if (free == 0) free = free_.load(std::memory_order_relaxed);
    }
    return __builtin_ctzll(free);
  }
  void Return(int slot) { free_.fetch_or(uint64_t{1} << slot, std::memory_order_release); }

 private:
  std::atomic<uint64_t> free_;
};

}  // namespace

absl::Status ForEachTile(const StepArgs& args, int64_t tiles, size_t slot_bytes,
                         absl::FunctionRef<absl::Status(int64_t tile, char* scratch)> body) {
  char* const scratch = static_cast<char*>(args.scratch);
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
  std::atomic<bool> failed = false;
  args.workers->ParallelFor(tiles, 1, [&](int64_t begin, int64_t end) {
    const int slot = slots.Take();
    for (int64_t t = begin; t < end && !failed.load(std::memory_order_relaxed); ++t) {
      absl::Status status = body(t, scratch + slot * slot_bytes);
      if (status.ok()) continue;
      const std::lock_guard lock(mutex);
      if (!failed.exchange(true)) first = std::move(status);
    }
    slots.Return(slot);
  });
  return first;
}

size_t TileScratchBytes(const Workers& workers, int64_t tiles, size_t slot_bytes) {
  return slot_bytes * SlotsFor(workers.threads(), std::max<int64_t>(tiles, 1));
}

int64_t TilesFor(double flops) {
  constexpr double kTileFlops = 8e6;  // some 40 us of one core
  constexpr int64_t kMostTiles = 16;
  return std::clamp<int64_t>(static_cast<int64_t>(std::min(flops / kTileFlops, 1e6)), 1,
                             kMostTiles);
}

int64_t TilesFor(const Workers& workers, double flops) {
  return workers.threads() == 1 ? 1 : TilesFor(flops);
}

int TiledPrimitive::AddRunner(const dnnl::primitive& primitive, std::vector<OneDnnRunner::Arg> args,
                              const MemoryDesc& scratchpad) {
  runners_.push_back(std::make_unique<OneDnnRunner>(primitive, std::move(args), scratchpad));
  slot_bytes_ = std::max(slot_bytes_, Aligned(runners_.back()->scratch_bytes()));
  return static_cast<int>(runners_.size()) - 1;
}

const void* TiledPrimitive::Keep(std::shared_ptr<const PackedBytes> constant) {
  kept_.push_back(std::move(constant));
  return kept_.back()->data;
}

void TiledPrimitive::SetPrologue(size_t bytes, Prologue prologue) {
  prologue_bytes_ = Aligned(bytes);
  prologue_ = std::move(prologue);
}

void TiledPrimitive::Install(Prepare& p, std::shared_ptr<TiledPrimitive> self) {
  p.set_scratch_bytes(self->prologue_bytes_ +
                      TileScratchBytes(p.workers(), self->tiles_.size(), self->slot_bytes_));
  if (self->start_input_ >= 0) p.AllowInPlace(0, self->start_input_);
  p.set_run(&Run, std::move(self));
}

absl::Status TiledPrimitive::Run(const void* state, const StepArgs& args) {
  const auto& self = *static_cast<const TiledPrimitive*>(state);
  if (self.start_input_ >= 0 && args.in[self.start_input_] != args.out[0]) {
    memcpy(args.out[0], args.in[self.start_input_], self.start_bytes_);
  }
  char* const prologue = static_cast<char*>(args.scratch);
  if (self.prologue_) {
    absl::Status status = self.prologue_(args, prologue);
    if (!status.ok()) return status;
  }
  StepArgs rest = args;
  rest.scratch = prologue + self.prologue_bytes_;
  return ForEachTile(rest, self.tiles_.size(), self.slot_bytes_, [&](int64_t t, char* scratch) {
    return self.RunTile(self.tiles_[t], args, prologue, scratch);
  });
}

absl::Status TiledPrimitive::RunTile(const Tile& tile, const StepArgs& args, const char* prologue,
                                     char* scratch) const {
  absl::InlinedVector<void*, 8> pointers;
  for (const Pointer& p : tile.pointers) {
    const void* base = p.from == Pointer::From::kInput    ? args.in[p.index]
                       : p.from == Pointer::From::kOutput ? args.out[p.index]
                       : p.from == Pointer::From::kFixed  ? p.fixed
                                                          : prologue;
    pointers.push_back(const_cast<char*>(static_cast<const char*>(base)) + p.offset);
  }
  return runners_[tile.runner]->Run(pointers, scratch);
}

}  // namespace tenon::cpu
