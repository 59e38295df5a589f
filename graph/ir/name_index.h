// Finds node ids by name: an open-addressing table of hash tags, 8 bytes a slot. The names stay
// with the nodes, so the table copies as plain memory, and lookups can be prefetched. Every `hash`
// is Hash of the name in question. Reading is thread-safe, changing is not.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/hash/hash.h"

namespace tenon {

class NameIndex {
 public:
  static uint64_t Hash(std::string_view name) { return absl::HashOf(name); }

  // Makes room for `names` names in all, so that Insert does not grow the table up to this number,
  // as long as nothing is erased.
  void Reserve(size_t names) {
    if (names * 2 > slots_.size()) Rehash(std::bit_ceil(names * 2 + 8));
  }

  // Returns the id of the name with this hash, or kEmpty. `is_name(id)` says whether the node of
  // this id has the name.
  template <typename IsName>
  int32_t Find(uint64_t hash, IsName is_name) const {
    if (slots_.empty()) return kEmpty;
    for (size_t i = Tag(hash) & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.id == kEmpty) return kEmpty;
      if (slot.id != kErased && slot.tag == Tag(hash) && is_name(slot.id)) return slot.id;
    }
  }

  // Inserts a name, which must not be in the table.
  void Insert(uint64_t hash, int32_t id) {
    if ((used_ + 1) * 2 > slots_.size()) Rehash(std::bit_ceil((size_ + 1) * 4));
    size_t i = Tag(hash) & mask_;
    while (slots_[i].id >= 0) i = (i + 1) & mask_;
    used_ += slots_[i].id == kEmpty;
    ++size_;
    slots_[i] = {Tag(hash), id};
  }

  // Removes the entry of this id, if it is there.
  void Erase(uint64_t hash, int32_t id) {
    if (slots_.empty()) return;
    for (size_t i = Tag(hash) & mask_; slots_[i].id != kEmpty; i = (i + 1) & mask_) {
      if (slots_[i].id != id) continue;
      slots_[i].id = kErased;
      --size_;
      return;
    }
  }

  size_t size() const { return size_; }

  // For lookups in batches. Prefetch loads the first slot of the hash into the cache. Guess returns
  // the id in this slot if the tag fits, without looking at the name, or kEmpty. A call of Reserve
  // with a number above 0, or of Insert, must come before.
  void Prefetch(uint64_t hash) const { __builtin_prefetch(slots_.data() + (Tag(hash) & mask_)); }
  int32_t Guess(uint64_t hash) const {
    const Slot& slot = slots_[Tag(hash) & mask_];
    return slot.id >= 0 && slot.tag == Tag(hash) ? slot.id : kEmpty;
  }

  static constexpr int32_t kEmpty = -1;

 private:
  static constexpr int32_t kErased = -2;
  struct Slot {
    uint32_t tag = 0;
    int32_t id = kEmpty;
  };
  // The tag also gives the slot, so that the table grows without the names. 32 bits suffice: ids
  // have 31.
  static uint32_t Tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

  void Rehash(size_t slots) {
    std::vector<Slot> old(slots);
    old.swap(slots_);
    mask_ = slots - 1;
    used_ = size_;
    for (const Slot& slot : old) {
      if (slot.id < 0) continue;
      size_t i = slot.tag & mask_;
      while (slots_[i].id >= 0) i = (i + 1) & mask_;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;  // the count is a power of two; at most half are in use
  size_t mask_ = 0;
  size_t size_ = 0;
  size_t used_ = 0;  // with erased slots, which end no search
};

}  // namespace tenon
