// Handles of TensorFlow's first version (references), which a graph may read as two strings: a
// container and the name of a resource.
#pragma once

#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon {

class NamedHandle : public Resource {
 public:
  using Resource::Resource;
  // Returns the two strings as a vector. The tensor keeps this handle alive.
  virtual Tensor AsStrings() = 0;
};

}  // namespace tenon
