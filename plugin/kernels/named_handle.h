// Handles of TensorFlow's first version (references), which a graph may read as two strings: the
// container and the name of a resource.
#pragma once

#include "graph/tensor/tensor.h"
#include "plugin/kernels/resource.h"

namespace tenon {

class NamedHandle : public Resource {
 public:
  using Resource::Resource;
  // The two strings as a tensor. The tensor keeps the resource alive.
  virtual Tensor AsStrings() = 0;
};

}  // namespace tenon
