// A list of plans; the one that was used longest ago makes room.

#include "executor/session/plan_cache.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tenon {
namespace {

constexpr double kBriefUs = 15;
constexpr uint64_t kBriefBytes = 8 << 10;  // of the arena

// Steps behind slow_steps may wait, run other steps, or call a plug-in: nobody knows their time.
bool IsBrief(const Plan& plan) {
  if (plan.step_costs_us.empty() || plan.steps.size() > CachedPlan::kBriefNodes ||
      plan.arena_bytes > kBriefBytes || !plan.tasks.empty() || !plan.devices.empty() ||
      !plan.resources.slow_steps.empty())
    return false;
  return std::accumulate(plan.step_costs_us.begin(), plan.step_costs_us.end(), 0.0) < kBriefUs;
}

template <typename T>
int64_t TableBytes(const std::vector<T>& table) {
  return static_cast<int64_t>(table.size() * sizeof(T));
}

int64_t OwnBytes(const Tensor& t) {
  return t.initialized() && t.buffer()->unique() ? static_cast<int64_t>(t.bytes()) : 0;
}

constexpr auto kUsedBefore = [](const auto& a, const auto& b) { return a->used < b->used; };

}  // namespace

int64_t HeldBytes(const Plan& plan) {
  int64_t bytes = TableBytes(plan.steps) + TableBytes(plan.tasks) + TableBytes(plan.args) +
                  TableBytes(plan.args_end) + TableBytes(plan.storages) +
                  TableBytes(plan.step_costs_us) + TableBytes(plan.places);
  for (const Tensor& t : plan.resources.constants) bytes += OwnBytes(t);
  for (const auto& t : plan.resources.own_constants) bytes += OwnBytes(*t);
  for (const auto& outputs : plan.resources.folded) {
    for (const Tensor& t : *outputs) bytes += OwnBytes(t);
  }
  return bytes;
}

bool CachedPlan::Serves(absl::Span<const Tensor> feeds) const {
  return std::equal(shapes.begin(), shapes.end(), feeds.begin(), feeds.end(),
                    [](const Shape& s, const Tensor& t) { return s == t.shape(); });
}

// Atomic, as readers share the lock, or have none. A plan that was used last stays that.
void PlanCache::NoteUse(CachedPlan& plan) {
  if (plan.used.load(std::memory_order_relaxed) + 1 != clock_.load(std::memory_order_relaxed))
    plan.used.store(clock_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
}

std::shared_ptr<CachedPlan> PlanCache::Find(absl::Span<const Tensor> feeds, bool is_alone) {
  absl::ReaderMutexLock lock(&mutex_);
  // A list, not a map: the cache is small, and a comparison in place allocates no key.
  for (const auto& entry : entries_) {
    if (entry->is_alone != is_alone || !entry->Serves(feeds)) continue;
    NoteUse(*entry);
    return entry;
  }
  return nullptr;
}

std::shared_ptr<CachedPlan> PlanCache::Add(absl::Span<const Tensor> feeds, bool is_alone,
                                           std::shared_ptr<const Plan> plan, bool* dropped) {
  auto entry = std::make_shared<CachedPlan>();
  for (const Tensor& t : feeds) entry->shapes.push_back(t.shape());
  entry->is_alone = is_alone;
  entry->is_brief = IsBrief(*plan);
  entry->bytes = HeldBytes(*plan);
  entry->plan = std::move(plan);
  entry->used = clock_.fetch_add(1);
  absl::MutexLock lock(&mutex_);
  *dropped = false;
  while (!entries_.empty() &&
         (entries_.size() >= max_plans_ || entry->bytes > max_bytes_ - bytes_)) {
    const auto oldest = std::min_element(entries_.begin(), entries_.end(), kUsedBefore);
    (*oldest)->is_dropped.store(true);
    bytes_ -= (*oldest)->bytes;
    entries_.erase(oldest);
    *dropped = true;
  }
  bytes_ += entry->bytes;
  entries_.push_back(entry);
  return entry;
}

bool PlanCache::HasRoomForAnother(const CachedPlan& plan) const {
  absl::ReaderMutexLock lock(&mutex_);
  return entries_.size() < max_plans_ && plan.bytes <= max_bytes_ - bytes_;
}

void PlanCache::Clear() {
  absl::MutexLock lock(&mutex_);
  for (const auto& entry : entries_) entry->is_dropped.store(true);
  entries_.clear();
  bytes_ = 0;
}

std::shared_ptr<const Plan> PlanCache::last() const {
  absl::ReaderMutexLock lock(&mutex_);
  const CachedPlan* last = nullptr;
  for (const auto& entry : entries_) {
    if (!entry->is_alone && (last == nullptr || last->used < entry->used)) last = entry.get();
  }
  return last == nullptr ? nullptr : last->plan;
}

int64_t PlanCache::size() const {
  absl::ReaderMutexLock lock(&mutex_);
  return static_cast<int64_t>(entries_.size());
}

}  // namespace tenon
