// What the copies of an object share, such as those of a Variable. Used by the library's own
// headers.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "tenon/error.h"

namespace tenon::inline v0::internal {

[[noreturn, gnu::cold]] inline void ThrowEmpty(const char* type, Where where) {
  Throw(TF_FAILED_PRECONDITION,
        std::string("This ") + type +
            " is empty: it was moved from, or made without a value. It may"
            " be assigned or destroyed only",
        OfProgram(where));
}

// A shared pointer that throws FAILED_PRECONDITION, with the name of the class that has it, where
// the object is asked for and there is none: it was moved from, or made without one. operator==
// compares pointers and throws nothing.
template <typename T>
class Shared {
 public:
  // `type` is a literal.
  explicit Shared(const char* type, std::shared_ptr<T> object = nullptr)
      : type_(type), object_(std::move(object)) {}

  const std::shared_ptr<T>& pointer(Where where = {}) const {
    if (object_ == nullptr) [[unlikely]]
      ThrowEmpty(type_, where);
    return object_;
  }
  // The object, for a call from `where`.
  T& At(Where where) const { return *pointer(where); }
  T* operator->() const { return pointer().get(); }
  T& operator*() const { return *pointer(); }
  friend bool operator==(const Shared& a, const Shared& b) { return a.object_ == b.object_; }

 private:
  const char* type_;
  std::shared_ptr<T> object_;
};

}  // namespace tenon::inline v0::internal
