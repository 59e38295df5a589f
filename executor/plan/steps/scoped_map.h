// A map of things that are made once and reused until the loop that contains them is closed.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tenon {

template <typename Key, typename Value>
class ScopedMap {
 public:
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
  // Forgets all but the first `size` that were added.
  void Shrink(size_t size) {
    for (size_t i = size; i < keys_.size(); ++i) map_.erase(keys_[i]);
    keys_.resize(size);
  }

 private:
  absl::flat_hash_map<Key, Value> map_;
  std::vector<Key> keys_;  // in the order in which they were added
};

}  // namespace tenon
