#include "plugin/kernels/resource.h"

#include <algorithm>

namespace tenon {

bool ResourceManager::Remove(const Resource& resource) {
  // Declared before the lock, so that the object is destroyed after it: that may take other locks,
  // or call a plug-in's function.
  ObjectRef<Resource> removed;
  absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(resources_.begin(), resources_.end(), [&](const auto& entry) {
    return entry.second.get() == &resource;
  });
  if (found == resources_.end()) return false;
  removed = std::move(found->second);
  resources_.erase(found);
  return true;
}

}  // namespace tenon
