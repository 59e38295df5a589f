// Tensor arrays by name. The ops of the first two versions, TensorArray and TensorArrayV2, have
// strings as handles.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/synchronization/mutex.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/containers/lists/tensor_array.h"
#include "plugin/kernels/named_handle.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// The session's tensor arrays by the names in their string handles. Such a name is not
// TensorArray::name(): several arrays may share that one. Thread-safe.
class NamedArrays : public Resource {
 public:
  static constexpr std::string_view kKind = "names of tensor arrays";
  std::string_view kind() const override { return kKind; }
  using Resource::Resource;

  // Returns the session's only object of this class, never null. The first call makes it.
  static ObjectRef<NamedArrays> Of(const Prepare& p);
  // Returns the array that Add gave this name, or null if no handle with the name is left.
  ObjectRef<TensorArray> Find(std::string_view name);

 private:
  friend class ArrayHandle;
  // Adds the array under a new name and returns the name. No array of the session ever had that
  // name.
  std::string Add(const ObjectRef<TensorArray>& array);
  // Forgets a name that Add returned.
  void Remove(const std::string& name);

  absl::Mutex mutex_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, ObjectRef<TensorArray>, std::less<>> arrays_ ABSL_GUARDED_BY(mutex_);
};

// The handle of a named array. Construction gives the array a new name, which is the handle's
// name() too. The name is forgotten with the handle.
class ArrayHandle : public NamedHandle {
 public:
  static constexpr std::string_view kKind = "handle of a tensor array";
  std::string_view kind() const override { return kKind; }
  ArrayHandle(ObjectRef<NamedArrays> names, ObjectRef<TensorArray> array)
      : NamedHandle(names->Add(array)), names_(std::move(names)), array_(std::move(array)) {}

  const ObjectRef<TensorArray>& array() const { return array_; }
  // Returns a vector of two strings: a constant, then name(). The tensor keeps the handle alive.
  Tensor AsStrings() override;

 private:
  ~ArrayHandle() override { names_->Remove(name()); }

  const ObjectRef<NamedArrays> names_;
  const ObjectRef<TensorArray> array_;
};

}  // namespace tenon::cpu
