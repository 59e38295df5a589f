// The values of the Optional ops' variants: a list of tensors, or nothing.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "graph/tensor/tensor.h"

namespace tenon::cpu {

// A list of components, which may be empty, or (by the default constructor) nothing. Immutable:
// several tensors may share one object.
class OptionalValue : public Object {
 public:
  static constexpr std::string_view kKind = "optional";
  std::string_view kind() const override { return kKind; }

  OptionalValue() = default;
  explicit OptionalValue(std::vector<Tensor> components)
      : has_value(true), components(std::move(components)) {}

  const bool has_value = false;
  const std::vector<Tensor> components;
};

}  // namespace tenon::cpu
