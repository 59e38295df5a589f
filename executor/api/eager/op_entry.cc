// Callables are found by a hash over attributes, types and devices. There are two maps: what is
// used moves to the young one, and when that is full, what is left in the old one goes.

#include "executor/api/eager/op_entry.h"

#include <algorithm>

#include "graph/base/status_macros.h"

namespace tenon::eager {

struct Callables::Entry {
  Entry(const CallKey& key, Made made)
      : attrs(key.attrs), device(key.device), resources(key.resources), callable(std::move(made)) {
    for (const TFE_TensorHandle* input : key.inputs) types.push_back(input->dtype);
  }
  bool Serves(const CallKey& key) const {
    if (device != key.device || resources != key.resources || types.size() != key.inputs.size())
      return false;
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] != key.inputs[i]->dtype) return false;
    }
    return attrs.SameGiven(key.attrs);
  }

  const OpAttrs attrs;
  TypeVector types;
  const DeviceName* const device;
  const Device* const resources;
  const Made callable;
};

namespace {

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

uint64_t HashOf(const CallKey& key) {
  uint64_t hash = Mix(key.attrs.hash(), reinterpret_cast<uintptr_t>(key.device));
  if (key.resources != nullptr) hash = Mix(hash, reinterpret_cast<uintptr_t>(key.resources));
  for (const TFE_TensorHandle* input : key.inputs)
    hash = Mix(hash, static_cast<uint64_t>(input->dtype));
  return hash;
}

std::vector<ArgAttrs> AttrsOfArgs(const OpDef& def) {
  const auto index = [&def](const std::string& name) {
    const auto found = std::find_if(def.attrs.begin(), def.attrs.end(),
                                    [&](const AttrDef& attr) { return attr.name == name; });
    return found == def.attrs.end() ? -1 : static_cast<int>(found - def.attrs.begin());
  };
  std::vector<ArgAttrs> args;
  for (const ArgDef& arg : def.inputs)
    args.push_back({index(arg.type_attr), index(arg.number_attr), index(arg.type_list_attr)});
  return args;
}

}  // namespace

OpEntry::OpEntry(const OpDef* op_def, bool function)
    : def(op_def), is_function(function), args(AttrsOfArgs(*op_def)) {}

Callables::Callables() = default;
Callables::~Callables() = default;

Callables::Made Callables::Find(const CallKey& key) {
  const auto young = young_.find(key.hash);
  if (young != young_.end()) return young->second->Serves(key) ? young->second->callable : nullptr;
  const auto old = old_.find(key.hash);
  if (old == old_.end() || !old->second->Serves(key)) return nullptr;
  Made found = old->second->callable;
  young_.emplace(key.hash, std::move(old->second));
  old_.erase(old);
  return found;
}

Callables::Map Callables::Add(uint64_t hash, std::unique_ptr<Entry> entry) {
  Map out;
  if (young_.size() >= kMost) {
    out = std::exchange(old_, std::exchange(young_, Map()));
  }
  // Of two keys with one hash, which hardly happens, the later one takes the place.
  std::swap(young_[hash], entry);
  if (entry != nullptr) out.emplace(hash, std::move(entry));
  return out;
}

absl::StatusOr<Callables::Made> Callables::Get(CallKey key,
                                               absl::FunctionRef<absl::StatusOr<Made>()> make) {
  key.hash = HashOf(key);
  int64_t clears = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (Made found = Find(key)) return found;
    clears = clears_;
  }
  TENON_ASSIGN_OR_RETURN(Made made, make());
  Map out;
  absl::MutexLock lock(&mutex_);
  if (Made found = Find(key)) return found;
  // It may be made of a function that is gone by now.
  if (clears != clears_) return made;
  out = Add(key.hash, std::make_unique<Entry>(key, made));
  return made;
}

void Callables::Clear() {
  Map old, young;
  absl::MutexLock lock(&mutex_);
  ++clears_;
  old.swap(old_);
  young.swap(young_);
}

}  // namespace tenon::eager
