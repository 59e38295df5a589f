// Handles of TensorFlow's first version that a graph may look at: references to two strings, the
// container and the name of a resource.
#pragma once

#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon {

class NamedHandle : public Resource {
 public:
  using Resource::Resource;
  // The strings. While they are there, so is what they name.
  virtual Tensor AsStrings() = 0;
};

}  // namespace tenon
