#include "plugin/pjrt/program_cache.h"

#include <algorithm>

#include "graph/base/status_macros.h"

namespace tenon::pjrt {

std::shared_ptr<ProgramCache::Entry> ProgramCache::Find(size_t device, std::string_view text) {
  absl::MutexLock lock(&mutex_);
  std::shared_ptr<Entry>& entry = entries_[{device, std::string(text)}];
  if (entry == nullptr) entry = std::make_shared<Entry>();
  const std::shared_ptr<Entry> found = entry;
  found->last_use = ++uses_;
  if (entries_.size() <= kMostPrograms) return found;
  const auto oldest = std::min_element(
      entries_.begin(), entries_.end(),
      [](const auto& a, const auto& b) { return a.second->last_use < b.second->last_use; });
  entries_.erase(oldest);  // whoever uses it has a share
  return found;
}

absl::StatusOr<std::shared_ptr<const LoadedProgram>> ProgramCache::Get(size_t device,
                                                                       std::string_view text,
                                                                       const CompileFn& compile) {
  const std::shared_ptr<Entry> entry = Find(device, text);
  absl::MutexLock lock(&entry->mutex);
  if (entry->program == nullptr) {
    TENON_ASSIGN_OR_RETURN(entry->program, compile());
  }
  return entry->program;
}

void ProgramCache::Clear() {
  absl::MutexLock lock(&mutex_);
  entries_.clear();
}

}  // namespace tenon::pjrt
