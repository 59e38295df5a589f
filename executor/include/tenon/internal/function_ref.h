// A reference to a callable of any type. Used by the library's own headers.
#pragma once

#include <utility>

namespace tenon::inline v0::internal {

// Calls an object, such as a lambda, that must live as long as the reference. What takes a
// FunctionRef is compiled once for all callables, and the reference itself adds one small function
// to each.
template <typename Signature>
class FunctionRef;
template <typename R, typename... A>
class FunctionRef<R(A...)> {
 public:
  template <typename F>
  FunctionRef(const F& callable)
      : callable_(&callable), call_([](const void* of, A... args) -> R {
          return (*static_cast<const F*>(of))(std::forward<A>(args)...);
        }) {}
  R operator()(A... args) const { return call_(callable_, std::forward<A>(args)...); }

 private:
  const void* callable_;
  R (*call_)(const void*, A...);
};

}  // namespace tenon::inline v0::internal
