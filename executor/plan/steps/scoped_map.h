// A map of objects that are made once and reused until the loop that contains them is closed.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tenon {

// Scopes end in the reverse order of their beginning: Shrink drops the entries that were added
// last. Not thread-safe.
template <typename Key, typename Value>
class ScopedMap {
 public:
  // Null if there is no entry. Valid until the next Add or Shrink.
  const Value* Find(const Key& key) const {
    const auto it = map_.find(key);
    return it == map_.end() ? nullptr : &it->second;
  }
  // The key must be new.
  void Add(const Key& key, const Value& value) {
    map_.emplace(key, value);
    keys_.push_back(key);
  }
  size_t size() const { return keys_.size(); }
  // Drops all entries but the first `size` that were added; `size` is an earlier result of size().
  void Shrink(size_t size) {
    for (size_t i = size; i < keys_.size(); ++i) map_.erase(keys_[i]);
    keys_.resize(size);
  }

 private:
  absl::flat_hash_map<Key, Value> map_;
  std::vector<Key> keys_;  // in the order in which they were added
};

}  // namespace tenon
