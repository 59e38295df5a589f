// The objects that a session keeps by name: variables, tables, queues. Elements of a resource
// tensor share the objects themselves, so that a kernel with the tensor needs no lookup.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "graph/tensor/object.h"

namespace tenon {

// The base of these objects. Each class defines a constant kKind of its own, which kind() returns.
// Objects are counted by reference: a tensor may keep one beyond the session.
class Resource : public Object {
 public:
  // What the resources of one container have in common.
  struct Container {
    std::string name;                // "localhost" for the nameless one
    std::atomic<bool> used = false;  // whether a resource in it has got a value
  };

  explicit Resource(std::string_view name) : name_(name) {}
  const std::string& name() const { return name_; }
  // Null for a resource that no manager has made.
  const std::shared_ptr<Container>& container() const { return container_; }
  // Whether the resource is of no use before it gets a value, as a variable.
  virtual bool starts_empty() const { return false; }
  // Whether no session keeps the object: it lasts as long as the tensors with it.
  virtual bool anonymous() const { return false; }

 protected:
  void NoteValue() const {
    // The load first: threads that assign to variables of one container share the cache line.
    if (container_ != nullptr && !container_->used.load(std::memory_order_relaxed))
      container_->used.store(true, std::memory_order_relaxed);
  }

 private:
  friend class ResourceManager;
  const std::string name_;
  std::shared_ptr<Container> container_;  // set once, before others see the resource
};

// The object as a T; null if the object is null or is no T.
template <typename T>
T* ObjectAs(Object* object) {
  return object != nullptr && object->kind() == T::kKind ? static_cast<T*>(object) : nullptr;
}

// Owns the resources of a session. Thread-safe. Resources of different kinds may have the same
// name.
class ResourceManager {
 public:
  // The resource of kind T::kKind, of this container and name; here "" and "localhost" are two
  // containers. If there is none, `make` makes it,
  // under the manager's lock: `make` must not call the manager. If `make` returns null, so does
  // this function, and nothing is kept.
  template <typename T>
  ObjectRef<T> LookupOrCreate(std::string_view container, std::string_view name,
                              absl::FunctionRef<ObjectRef<T>()> make) {
    absl::MutexLock lock(&mutex_);
    const Key key(container, name, T::kKind);
    auto entry = resources_.find(key);
    if (entry == resources_.end()) {
      auto made = ObjectRef<Resource>::Adopt(make().release());
      if (!made) return {};
      made->container_ = ContainerOf(container);
      if (!made->starts_empty()) made->NoteValue();
      entry = resources_.emplace(key, std::move(made)).first;
    }
    return ObjectRef<T>::Share(static_cast<T*>(entry->second.get()));
  }
  // Forgets the resource; holders of references may go on using it, and LookupOrCreate makes a new
  // one. False if it was not there.
  bool Remove(const Resource& resource);

 private:
  using Key = std::tuple<std::string, std::string, std::string_view>;  // container, name, kind
  std::shared_ptr<Resource::Container> ContainerOf(std::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Resource::Container>, std::less<>> containers_
      ABSL_GUARDED_BY(mutex_);
  std::map<Key, ObjectRef<Resource>> resources_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon
