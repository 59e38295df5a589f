// What the functions of tenon::ops take as an input.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "tenon/op.h"

namespace tenon::inline v0 {
namespace internal {

// An integer in a list in which integers of several types stand. A number above 2^63 - 1 becomes
// negative.
class MixedInteger {
 public:
  template <std::integral T>
  requires(!std::is_same_v<T, bool>) MixedInteger(T value)  // NOLINT
      : value_(static_cast<int64_t>(value)) {}
  operator int64_t() const { return value_; }  // NOLINT

 private:
  int64_t value_;
};

}  // namespace internal

// A tensor in a call of a function of tenon::ops: a Tensor, or what converts to one (a number or a
// text is a scalar, a Variable its value). A list in braces is a vector, whatever its length:
// Reshape(x, {-1}), Sum(x, {0, 1}); lists in it make a matrix, and so on, of up to four dimensions.
// All elements have one type, which is that of the tensor; a vector of integers of several types is
// int64: Reshape(x, {-1, rows}). {} is a vector of no int32 elements.
// INVALID_ARGUMENT if lists of one level differ in length. To be used in the call alone: it may
// refer to what the call was given.
class Input {
 public:
  Input() : own_(Tensor::Of<int32_t>(Shape{0}, std::span<const int32_t>())), tensor_(&own_) {}
  Input(const Tensor& tensor) : tensor_(&tensor) {}  // NOLINT
  template <typename T>
  requires(!std::is_same_v<T, Tensor> && std::is_convertible_v<const T&, Tensor>)
      Input(const T& value)  // NOLINT
      : own_(value), tensor_(&own_) {}
  template <typename T>
  requires(internal::DTypeOf<T>() != DType::kInvalid)
      Input(std::initializer_list<T> values, Where where = Where::current())
      : own_(Tensor::Of<T>(values, where)), tensor_(&own_) {}
  Input(std::initializer_list<internal::MixedInteger> values, Where where = Where::current())
      : own_(Tensor::Of<int64_t>(Shape{static_cast<int64_t>(values.size())},
                                 std::vector<int64_t>(values.begin(), values.end()), where)),
        tensor_(&own_) {}
  template <typename T>
  requires(internal::DTypeOf<T>() != DType::kInvalid)
      Input(std::initializer_list<std::initializer_list<T>> values, Where where = Where::current())
      : own_(Tensor::Of<T>(values, where)), tensor_(&own_) {}
  template <typename T>
  requires(internal::DTypeOf<T>() != DType::kInvalid)
      Input(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
            Where where = Where::current())
      : own_(Tensor::Of<T>(values, where)), tensor_(&own_) {}
  template <typename T>
  requires(internal::DTypeOf<T>() != DType::kInvalid) Input(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>>
          values,
      Where where = Where::current())
      : own_(Tensor::Of<T>(values, where)), tensor_(&own_) {}
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  const Tensor& tensor() const { return *tensor_; }

 private:
  Tensor own_;  // unless the call was given a Tensor
  const Tensor* tensor_;
};

}  // namespace tenon::inline v0
