// What functions take and give: tensors, variables and C++ values, in tuples, pairs, vectors,
// arrays, maps, optionals and structs that list their members.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::inline v0 {

class Variable;

// What a tensor must be like: a type, and a shape of which lengths may be unknown. `name` is that
// of the placeholder for it; empty: "arg_0" and so on. A name that no node may have is
// INVALID_ARGUMENT when a function is traced with it.
class TensorSpec {
 public:
  TensorSpec(DType dtype, Shape shape, std::string name = {})
      : dtype_(dtype), shape_(std::move(shape)), name_(std::move(name)) {}
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const std::string& name() const { return name_; }

 private:
  DType dtype_;
  Shape shape_;
  std::string name_;
};

namespace internal {

// A struct whose `auto Fields()` gives a std::tie of its members.
template <typename T>
concept HasFields = requires(T& value) {
  value.Fields();
};

// What Walk calls for the parts of a value. A visitor derives from this, and has functions of its
// own in the place of those that it needs; these do nothing.
struct Visitor {
  void OnTensor(const Tensor&) {}  // may take a Tensor&, and replace it
  void OnVariable(const Variable&) {}
  void OnSpec(const TensorSpec&) {}
  void OnMark(size_t) {}                // the length of a vector, map or text, and the like
  void OnConstant(std::string_view) {}  // a text, or the bytes of a C++ value
  // A visitor that has a template OnPlain(value) gets numbers, enums and pointers by that.
};

// Walks over a value, part by part. Unordered maps are walked in the order of their keys. A pointer
// to a Variable stands for the variable, and a pointer to const char for its text: INVALID_ARGUMENT
// if it is null. Any other pointer is a C++ value.
template <typename T, typename Visit>
void Walk(T& value, Visit& visitor);

template <typename T>
struct IsVector : std::false_type {};
template <typename T, typename A>
struct IsVector<std::vector<T, A>> : std::true_type {};
template <typename T, size_t n>
struct IsVector<std::array<T, n>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename K, typename V, typename C, typename A>
struct IsMap<std::map<K, V, C, A>> : std::true_type {};
template <typename T>
struct IsUnorderedMap : std::false_type {};
template <typename K, typename V, typename H, typename E, typename A>
struct IsUnorderedMap<std::unordered_map<K, V, H, E, A>> : std::true_type {};
template <typename T>
struct IsTuple : std::false_type {};
template <typename... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <typename A, typename B>
struct IsTuple<std::pair<A, B>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
inline constexpr bool kNever = false;

template <typename T, typename Visit>
void Walk(T& value, Visit& visitor) {
  using Value = std::remove_const_t<T>;
  const auto constant = [&visitor](const auto& plain) {
    if constexpr (requires { visitor.OnPlain(plain); }) {
      visitor.OnPlain(plain);
    } else {
      visitor.OnConstant(std::string_view(reinterpret_cast<const char*>(&plain), sizeof plain));
    }
  };
  const auto refuse = [&visitor](const char* why) {
    Where where;
    if constexpr (requires { visitor.where(); }) where = visitor.where();
    Throw(TF_INVALID_ARGUMENT, why, where);
  };
  if constexpr (std::is_same_v<Value, Tensor>) {
    visitor.OnTensor(value);
  } else if constexpr (std::is_same_v<Value, TensorSpec>) {
    visitor.OnSpec(value);
  } else if constexpr (std::is_base_of_v<Variable, Value>) {
    visitor.OnVariable(value);
  } else if constexpr (std::is_pointer_v<Value> &&
                       std::is_base_of_v<Variable,
                                         std::remove_cv_t<std::remove_pointer_t<Value>>>) {
    if (value == nullptr) refuse("A pointer to a Variable that a function takes or gives is null");
    visitor.OnVariable(*value);
  } else if constexpr (IsVector<Value>::value) {
    visitor.OnMark(value.size());
    if constexpr (std::is_same_v<Value, std::vector<bool>>) {
      for (const bool part : value) constant(part);
    } else {
      for (auto& part : value) Walk(part, visitor);
    }
  } else if constexpr (IsMap<Value>::value) {
    visitor.OnMark(value.size());
    for (auto& [key, part] : value) {
      Walk(key, visitor);
      Walk(part, visitor);
    }
  } else if constexpr (IsUnorderedMap<Value>::value) {
    // In the order of the keys, so that equal maps are walked alike.
    std::map<typename Value::key_type, decltype(&value.begin()->second)> sorted;
    for (auto& [key, part] : value) sorted.emplace(key, &part);
    visitor.OnMark(sorted.size());
    for (auto& [key, part] : sorted) {
      Walk(key, visitor);
      Walk(*part, visitor);
    }
  } else if constexpr (IsTuple<Value>::value) {
    std::apply([&](auto&... parts) { (Walk(parts, visitor), ...); }, value);
  } else if constexpr (IsOptional<Value>::value) {
    visitor.OnMark(value.has_value() ? 1 : 0);
    if (value) Walk(*value, visitor);
  } else if constexpr (HasFields<Value>) {
    auto fields = const_cast<Value&>(value).Fields();
    std::apply([&](auto&... parts) { (Walk(parts, visitor), ...); }, fields);
  } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
    if constexpr (std::is_pointer_v<Value>) {
      if (value == nullptr) refuse("A text that a function takes is null");
    }
    const std::string_view text = value;
    visitor.OnMark(text.size());
    visitor.OnConstant(text);
  } else if constexpr (std::is_arithmetic_v<Value> || std::is_enum_v<Value> ||
                       std::is_pointer_v<Value>) {
    constant(value);
  } else if constexpr (std::is_empty_v<Value>) {
    // A tag: its type says all.
  } else {
    static_assert(
        kNever<Value>,
        "A function takes and gives tensors, variables, C++ numbers, strings and enums, in "
        "std::tuple, pair, vector, array, map, optional and structs with `auto Fields()`");
  }
}

// An address for each list of C++ types.
template <typename... T>
const void* TypeTag() {
  static const char tag = 0;
  return &tag;
}

// What the callable of a function gets for an argument while it is traced: a tensor for a spec, a
// std::vector of tensors for one of specs, a std::string for a text.
template <typename T>
struct TracedArgOf {
  using Type = std::decay_t<T>;
};
template <>
struct TracedArgOf<TensorSpec> {
  using Type = Tensor;
};
template <>
struct TracedArgOf<std::vector<TensorSpec>> {
  using Type = std::vector<Tensor>;
};
template <size_t n>
struct TracedArgOf<char[n]> {
  using Type = std::string;
};
template <>
struct TracedArgOf<const char*> {
  using Type = std::string;
};
template <typename T>
using TracedArg = typename TracedArgOf<T>::Type;

// What a callable takes.
template <typename... A>
struct Parameters {
  static constexpr int kCount = sizeof...(A);
  // How many tensors, where it takes nothing else; else 0.
  static constexpr size_t kTensors = (std::is_same_v<std::decay_t<A>, Tensor> && ...) ? kCount : 0;
};
// Of a callable that is a template or has overloads.
struct UnknownParameters {
  static constexpr int kCount = -1;
  static constexpr size_t kTensors = 0;
};
template <typename F>
struct ParametersFor {
  using Type = UnknownParameters;
};
template <typename R, typename... A>
struct ParametersFor<R (*)(A...)> {
  using Type = Parameters<A...>;
};
template <typename R, typename C, typename... A>
struct ParametersFor<R (C::*)(A...)> {
  using Type = Parameters<A...>;
};
template <typename R, typename C, typename... A>
struct ParametersFor<R (C::*)(A...) const> {
  using Type = Parameters<A...>;
};
template <typename F>
requires requires { &F::operator(); }
struct ParametersFor<F> : ParametersFor<decltype(&F::operator())> {};
template <typename F>
using ParametersOf = typename ParametersFor<F>::Type;

// The number of arguments that a callable takes; -1 where it is a template or has overloads.
template <typename F>
inline constexpr int kArity = ParametersOf<F>::kCount;

// True if a callable takes such arguments while it is traced.
template <typename F, typename... Args>
inline constexpr bool kTakes =
    std::is_invocable_v<F&, std::add_lvalue_reference_t<TracedArg<Args>>...>;

// A call of a Function whose arguments are of the types of the parameters: arguments in braces have
// no type that a template could find.
template <typename Function, typename Parameters>
struct BracedCalls {
  struct Nothing;
  void operator()(Nothing&) const = delete;  // there are none
};
template <typename Function, typename... A>
requires(sizeof...(A) != 0) struct BracedCalls<Function, Parameters<A...>> {
  auto operator()(const std::decay_t<A>&... args, Where where = Where::current()) const {
    return static_cast<const Function*>(this)->CallAt(where, args...);
  }
};

template <int callable_takes, int call_gives>
constexpr void CheckArgumentCount() {
  static_assert(callable_takes == call_gives,
                "A Function is called with another number of arguments than its callable takes");
}

// The error of the compiler for a call whose arguments the callable does not take.
template <typename F, typename... Args>
[[noreturn]] constexpr void RefuseArguments() {
  constexpr int count = sizeof...(Args);
  if constexpr (kArity<F> >= 0 && kArity<F> != count) {
    CheckArgumentCount<kArity<F>, count>();
  } else {
    static_assert(kNever<F>,
                  "A Function is called with arguments of other types, or another number of them, "
                  "than its callable takes");
  }
  __builtin_unreachable();
}

}  // namespace internal
}  // namespace tenon::inline v0
