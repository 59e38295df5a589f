// A ragged tensor as one element of a variant tensor.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "graph/tensor/tensor.h"

namespace tenon::cpu {

// Immutable: several tensors may share one object.
class RaggedValue : public Object {
 public:
  static constexpr std::string_view kKind = "ragged tensor";
  std::string_view kind() const override { return kKind; }

  RaggedValue(std::vector<Tensor> splits, Tensor values)
      : splits(std::move(splits)), values(std::move(values)) {}

  // Row splits, outermost level first: vectors, all int32 or all int64. Without splits, the value
  // is the plain tensor `values`. The constructor checks nothing.
  const std::vector<Tensor> splits;
  const Tensor values;
};

}  // namespace tenon::cpu
