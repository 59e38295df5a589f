#include "plugin/kernels/resource.h"

#include <algorithm>

namespace tenon {

std::shared_ptr<Resource::Container> ResourceManager::ContainerOf(std::string_view name) {
  const auto found = containers_.find(name);
  if (found != containers_.end()) return found->second;
  auto made = std::make_shared<Resource::Container>();
  made->name = name.empty() ? "localhost" : name;
  return containers_.emplace(name, std::move(made)).first->second;
}

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
