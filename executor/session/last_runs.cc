// Who takes a run out of its shard owns it: nobody reads a shard without an exchange.
#include "executor/session/last_runs.h"

#include <utility>

namespace tenon {
namespace {

// Threads that start one after the other get shards of their own.
size_t NumberOfThread() {
  static std::atomic<size_t> next{0};
  thread_local const size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

void GiveBack(std::unique_ptr<LastRuns::Run> run) {
  run->plan->frames.Return(std::move(run->frame));
}

}  // namespace

LastRuns::LastRuns() : shards_(std::make_unique<std::array<Shard, kShards>>()) {}

LastRuns::~LastRuns() {
  for (Shard& shard : *shards_) delete shard.run.load();
}

LastRuns::Shard& LastRuns::Mine() { return (*shards_)[NumberOfThread() % kShards]; }

std::unique_ptr<LastRuns::Run> LastRuns::Take(absl::Span<const Tensor> feeds) {
  Shard& shard = Mine();
  std::unique_ptr<Run> run(shard.run.exchange(nullptr, std::memory_order_acquire));
  if (run == nullptr || run->plan->is_dropped.load()) return nullptr;
  if (!run->plan->Serves(feeds)) {
    GiveBack(std::move(run));
    return nullptr;
  }
  shard.hits.fetch_add(1, std::memory_order_relaxed);
  return run;
}

void LastRuns::Keep(std::unique_ptr<Run> run) {
  const int64_t drops = drops_.load();
  if (run->plan->is_dropped.load()) return;
  // From the exchange on another thread may have the object.
  Run* nothing = nullptr;
  Run* const kept = run.release();
  if (!Mine().run.compare_exchange_strong(nothing, kept))
    return GiveBack(std::unique_ptr<Run>(kept));
  // Who drops a plan after the look at it above counts that before looking at the shards.
  if (drops_.load() != drops) LetDroppedGo();
}

void LastRuns::LetDroppedGo() {
  int64_t drops = drops_.fetch_add(1) + 1;
  // A run that this thread has in its hands is hidden from others, whose plans may be dropped
  // meanwhile: they count that before they look, so this thread looks again.
  for (bool again = true; again;) {
    for (Shard& shard : *shards_) {
      std::unique_ptr<Run> run(shard.run.exchange(nullptr));
      if (run == nullptr || run->plan->is_dropped.load()) continue;
      Run* nothing = nullptr;
      Run* const kept = run.release();
      if (!shard.run.compare_exchange_strong(nothing, kept)) GiveBack(std::unique_ptr<Run>(kept));
    }
    const int64_t now = drops_.load();
    again = now != drops;
    drops = now;
  }
}

int64_t LastRuns::hits() const {
  int64_t hits = 0;
  for (const Shard& shard : *shards_) hits += shard.hits.load(std::memory_order_relaxed);
  return hits;
}

}  // namespace tenon
