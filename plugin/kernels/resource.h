// What a session remembers by name: variables, tables, queues. A resource tensor's elements point
// to such objects themselves, so that a kernel looks nothing up.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor/object.h"

namespace tenon {

// A class of resources has a constant kKind, which its kind() returns and no other class has.
class Resource : public Object {
 public:
  explicit Resource(std::string_view name) : name_(name) {}
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
};

// The object if it is a T; null otherwise.
template <typename T>
T* ObjectAs(Object* object) {
  return object != nullptr && object->kind() == T::kKind ? static_cast<T*>(object) : nullptr;
}

// Thread-safe. Different kinds may have resources of the same name.
class ResourceManager {
 public:
  // The resource of that name, made by `make` at first use.
  template <typename T>
  ObjectRef<T> LookupOrCreate(std::string_view container, std::string_view name,
                              absl::FunctionRef<ObjectRef<T>()> make) {
    absl::MutexLock lock(&mutex_);
    ObjectRef<Resource>& entry = resources_[{std::string(container), std::string(name), T::kKind}];
    if (!entry) entry = ObjectRef<Resource>::Adopt(make().release());
    return ObjectRef<T>::Share(static_cast<T*>(entry.get()));
  }
  // Forgets the resource; who holds it may go on using it. False if it was not there.
  bool Remove(const Resource& resource);

 private:
  using Key = std::tuple<std::string, std::string, std::string_view>;  // container, name, kind
  absl::Mutex mutex_;
  std::map<Key, ObjectRef<Resource>> resources_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
