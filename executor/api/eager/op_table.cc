#include "executor/api/eager/op_table.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "graph/op_defs/op_registry.h"

namespace tenon::eager {

OpTable::OpTable() {
  constexpr size_t kFirstSlots = 256;
  absl::MutexLock lock(&mutex_);
  all_slots_.push_back(std::make_unique<Slots>(kFirstSlots));
  current_ = all_slots_.back().get();
}

OpTable::~OpTable() = default;

OpEntry* OpTable::FindIn(const Slots& slots, std::string_view name) {
  for (size_t i = absl::HashOf(name);; ++i) {
    OpEntry* const entry = slots.slots[i & slots.mask].load(std::memory_order_acquire);
    if (entry == nullptr || entry->def->name == name) return entry;
  }
}

void OpTable::Put(Slots& slots, OpEntry* entry) {
  size_t i = absl::HashOf(std::string_view(entry->def->name));
  while (slots.slots[i & slots.mask].load(std::memory_order_relaxed) != nullptr) ++i;
  slots.slots[i & slots.mask].store(entry, std::memory_order_release);
}

OpEntry* OpTable::Find(std::string_view name) const {
  return FindIn(*current_.load(std::memory_order_acquire), name);
}

OpEntry* OpTable::FindOrAdd(std::string_view name) {
  if (OpEntry* const known = Find(name)) return known;
  const OpDef* const def = OpRegistry::Global().Find(name);
  if (def == nullptr) return nullptr;
  absl::MutexLock lock(&mutex_);
  if (OpEntry* const known = Find(name)) return known;
  entries_.push_back(std::make_unique<OpEntry>(def, /*function=*/false));
  if (2 * entries_.size() > all_slots_.back()->mask + 1) {
    auto larger = std::make_unique<Slots>(2 * (all_slots_.back()->mask + 1));
    for (const auto& entry : entries_) Put(*larger, entry.get());
    current_.store(larger.get(), std::memory_order_release);
    all_slots_.push_back(std::move(larger));
  } else {
    Put(*all_slots_.back(), entries_.back().get());
  }
  return entries_.back().get();
}

void OpTable::ClearCallables() {
  absl::MutexLock lock(&mutex_);
  for (const auto& entry : entries_) entry->callables.Clear();
}

void OpTable::ClearCallablesWithFunctions() {
  absl::MutexLock lock(&mutex_);
  for (const auto& entry : entries_) {
    const std::vector<AttrDef>& attrs = entry->def->attrs;
    if (std::any_of(attrs.begin(), attrs.end(),
                    [](const AttrDef& attr) { return attr.kind == AttrKind::kFunc; }))
      entry->callables.Clear();
  }
}

}  // namespace tenon::eager
