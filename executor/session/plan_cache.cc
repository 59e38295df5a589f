// A list of plans; the one that was used longest ago makes room.

#include "executor/session/plan_cache.h"

#include <algorithm>
#include <utility>

namespace tenon {
namespace {

constexpr auto kUsedBefore = [](const auto& a, const auto& b) { return a->used < b->used; };

}  // namespace

std::shared_ptr<CachedPlan> PlanCache::Find(absl::Span<const Tensor> feeds) {
  absl::ReaderMutexLock lock(&mutex_);
  // A list, not a map: the cache is small, and a comparison in place allocates no key.
  for (const auto& entry : entries_) {
    const bool same =
        std::equal(entry->shapes.begin(), entry->shapes.end(), feeds.begin(), feeds.end(),
                   [](const Shape& s, const Tensor& t) { return s == t.shape(); });
    if (!same) continue;
    // Atomic, as readers share the lock. A plan that was used last stays that.
    if (entry->used.load(std::memory_order_relaxed) + 1 != clock_.load(std::memory_order_relaxed))
      entry->used.store(clock_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
    return entry;
  }
  return nullptr;
}

std::shared_ptr<CachedPlan> PlanCache::Add(absl::Span<const Tensor> feeds,
                                           std::shared_ptr<const Plan> plan) {
  auto entry = std::make_shared<CachedPlan>();
  for (const Tensor& t : feeds) entry->shapes.push_back(t.shape());
  entry->plan = std::move(plan);
  entry->used = clock_.fetch_add(1);
  absl::MutexLock lock(&mutex_);
  if (entries_.size() >= max_plans_)
    entries_.erase(std::min_element(entries_.begin(), entries_.end(), kUsedBefore));
  entries_.push_back(entry);
  return entry;
}

void PlanCache::Clear() {
  absl::MutexLock lock(&mutex_);
  entries_.clear();
}

std::shared_ptr<const Plan> PlanCache::last() const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto last = std::max_element(entries_.begin(), entries_.end(), kUsedBefore);
  return last == entries_.end() ? nullptr : (*last)->plan;
}

int64_t PlanCache::size() const {
  absl::ReaderMutexLock lock(&mutex_);
  return static_cast<int64_t>(entries_.size());
}

}  // namespace tenon
