// The host objects that elements of resource and variant tensors point to, with an intrusive
// reference count.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tenon {

// A reference-counted object. References may be taken and dropped on any thread; the last Unref
// destroys the object, on the thread that calls it. An object whose last reference the destructor
// of another Object drops is destroyed after that destructor, not inside of it. A new object has
// one reference, which belongs to its maker.
class Object {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy();
  }
  // Whether the caller has the only reference, and may change the object. Only a holder of a
  // reference may ask.
  bool unique() const { return refs_.load(std::memory_order_acquire) == 1; }

  // The kind of object, for messages: "variable", "tensor list".
  virtual std::string_view kind() const = 0;

 protected:
  Object() = default;
  virtual ~Object() = default;

 private:
  void Destroy();

  std::atomic<int32_t> refs_{1};
};

// Owns one reference to an Object; may be null, and then must not be dereferenced. Adopt takes over
// the caller's reference, Share adds one, release hands it to the caller. As with shared_ptr, one
// ObjectRef is not thread-safe; several to one object are.
template <typename T>
class ObjectRef {
 public:
  ObjectRef() = default;
  template <typename... Args>
  static ObjectRef Make(Args&&... args) {
    return Adopt(new T(std::forward<Args>(args)...));
  }
  static ObjectRef Adopt(T* object) {
    ObjectRef r;
    r.object_ = object;
    return r;
  }
  static ObjectRef Share(T* object) {
    if (object != nullptr) object->Ref();
    return Adopt(object);
  }
  ObjectRef(const ObjectRef& o) : ObjectRef(Share(o.object_)) {}
  ObjectRef(ObjectRef&& o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
  ObjectRef& operator=(ObjectRef o) noexcept {
    std::swap(object_, o.object_);
    return *this;
  }
  ~ObjectRef() {
    if (object_ != nullptr) object_->Unref();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T* release() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace tenon
