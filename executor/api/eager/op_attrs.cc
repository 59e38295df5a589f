#include "executor/api/eager/op_attrs.h"

#include <algorithm>
#include <optional>

#include "absl/hash/hash.h"

namespace tenon::eager {

void OpAttrs::Reset(const OpDef* def) {
  def_ = def;
  slots_.clear();
  bytes_.clear();
  hash_ = 0;
}

int OpAttrs::IndexOf(std::string_view name) const {
  if (def_ == nullptr) return kNotInOp;
  for (size_t i = 0; i < def_->attrs.size(); ++i) {
    if (def_->attrs[i].name == name) return static_cast<int>(i);
  }
  return kNotInOp;
}

bool OpAttrs::Has(int index) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [index](const Slot& slot) { return slot.index == index; });
}

std::string_view OpAttrs::NameOf(const Slot& slot) const {
  if (slot.index != kNotInOp) return def_->attrs[slot.index].name;
  return std::string_view(bytes_).substr(slot.name, slot.begin - slot.name);
}

const OpAttrs::Slot* OpAttrs::Find(std::string_view name) const {
  const auto found = std::find_if(slots_.begin(), slots_.end(),
                                  [&](const Slot& slot) { return NameOf(slot) == name; });
  return found == slots_.end() ? nullptr : &*found;
}

void OpAttrs::Set(std::string_view name, std::string_view wire) {
  Slot slot;
  slot.index = IndexOf(name);
  if (slot.index == kNotInOp ? Has(name) : Has(slot.index)) return;
  slot.name = bytes_.size();
  if (slot.index == kNotInOp) bytes_.append(name);
  slot.begin = bytes_.size();
  bytes_.append(wire);
  slot.end = bytes_.size();
  slots_.push_back(slot);
  // A sum: the order in which attributes are set does not matter.
  hash_ += slot.index == kNotInOp ? absl::HashOf(name, wire) : absl::HashOf(slot.index, wire);
}

void OpAttrs::InferType(int index, DataType type) {
  if (Has(index)) return;
  Slot& slot = slots_.emplace_back();
  slot.index = index;
  slot.inferred = type;
}

bool OpAttrs::SameGiven(const OpAttrs& other) const {
  if (hash_ != other.hash_) return false;
  if (bytes_ == other.bytes_ && slots_ == other.slots_) return true;
  return std::all_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    if (slot.inferred != DataType::kInvalid) return true;
    const Slot* const theirs = other.Find(NameOf(slot));
    return theirs != nullptr && theirs->inferred == DataType::kInvalid &&
           Given(slot) == other.Given(*theirs);
  });
}

std::string OpAttrs::WireOf(const Slot& slot) const {
  if (slot.inferred != DataType::kInvalid) return attr::Type(slot.inferred);
  return std::string(Given(slot));
}

std::optional<std::string> OpAttrs::Get(std::string_view name) const {
  const Slot* const slot = Find(name);
  if (slot == nullptr) return std::nullopt;
  return WireOf(*slot);
}

NewAttrs OpAttrs::All() const {
  NewAttrs all;
  for (const Slot& slot : slots_) all.push_back({NameOf(slot), WireOf(slot)});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

}  // namespace tenon::eager
