#include "executor/api/session/run_table.h"

#include "absl/hash/hash.h"

namespace tenon::api {
namespace {

uint64_t WordOf(const void* address) { return reinterpret_cast<uintptr_t>(address); }

}  // namespace

RunKey::RunKey(const RunEnds& ends) {
  words_.reserve(2 + 2 * (ends.inputs.size() + ends.outputs.size()) + ends.targets.size());
  words_.push_back(ends.inputs.size());
  words_.push_back(ends.outputs.size());
  for (const absl::Span<const TF_Output>& list : {ends.inputs, ends.outputs}) {
    for (const TF_Output& o : list) {
      words_.push_back(WordOf(o.oper));
      words_.push_back(static_cast<uint64_t>(o.index));
    }
  }
  for (const TF_Operation* target : ends.targets) words_.push_back(WordOf(target));
  hash_ = absl::HashOf(absl::MakeConstSpan(words_));
}

bool RunKey::IsOf(const RunEnds& ends) const {
  if (words_.size() != 2 + 2 * (ends.inputs.size() + ends.outputs.size()) + ends.targets.size() ||
      words_[0] != ends.inputs.size() || words_[1] != ends.outputs.size())
    return false;
  const uint64_t* word = words_.data() + 2;
  for (const absl::Span<const TF_Output>& list : {ends.inputs, ends.outputs}) {
    for (const TF_Output& o : list) {
      if (word[0] != WordOf(o.oper) || word[1] != static_cast<uint64_t>(o.index)) return false;
      word += 2;
    }
  }
  for (const TF_Operation* target : ends.targets) {
    if (*word++ != WordOf(target)) return false;
  }
  return true;
}

Executable* RunTable::FindLast(const RunEnds& ends) const {
  const Entry* const last = last_.load(std::memory_order_acquire);
  return last != nullptr && last->key.IsOf(ends) ? last->executable : nullptr;
}

Executable* RunTable::Find(const RunKey& key) const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto found = entries_.find(key.hash());
  if (found == entries_.end()) return nullptr;
  for (const std::unique_ptr<const Entry>& entry : found->second) {
    if (!(entry->key == key)) continue;
    last_.store(entry.get(), std::memory_order_release);
    return entry->executable;
  }
  return nullptr;
}

void RunTable::Add(RunKey key, Executable* executable) {
  absl::MutexLock lock(&mutex_);
  std::vector<std::unique_ptr<const Entry>>& entries = entries_[key.hash()];
  for (const std::unique_ptr<const Entry>& entry : entries) {
    if (entry->key == key) return;
  }
  entries.push_back(std::make_unique<const Entry>(Entry{std::move(key), executable}));
}

}  // namespace tenon::api
