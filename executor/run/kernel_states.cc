#include "executor/run/kernel_states.h"

namespace tenon {

std::shared_ptr<NodeState> KernelStates::GetNodeState(
    std::string_view key, const std::function<std::shared_ptr<NodeState>()>& make) {
  absl::MutexLock lock(&mutex_);
  std::shared_ptr<NodeState>& state = nodes_[key];
  if (state == nullptr) state = make();
  return state;
}

void KernelStates::ForgetNodeStates() {
  absl::flat_hash_map<std::string, std::shared_ptr<NodeState>> old;
  absl::MutexLock lock(&mutex_);
  old.swap(nodes_);
}

std::shared_ptr<const void> PackedValues::Get(
    const void* constant, std::string_view key,
    const std::function<std::shared_ptr<const void>()>& make) {
  const std::pair<const void*, std::string> id(constant, key);
  {
    absl::MutexLock lock(&mutex_);
    const auto it = values_.find(id);
    if (it != values_.end()) return it->second;
  }
  // Packing may be slow and may itself ask for state: made without the lock, the first one wins.
  std::shared_ptr<const void> made = make();
  if (made == nullptr) return nullptr;
  absl::MutexLock lock(&mutex_);
  return values_.emplace(id, std::move(made)).first->second;
}

}  // namespace tenon
