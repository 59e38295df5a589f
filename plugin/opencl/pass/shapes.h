// Inferred shapes of a graph that the pass got.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "../base/dims.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

namespace opencl {

// Infers the shapes once. Of a graph that cannot be inferred all shapes are unknown.
class InferredShapes {
 public:
  // `item` must outlive the object.
  explicit InferredShapes(const TF_GrapplerItem* item);
  ~InferredShapes();
  InferredShapes(const InferredShapes&) = delete;
  InferredShapes& operator=(const InferredShapes&) = delete;

  // The shape of the node's first output; -1 for a dimension that is unknown, nothing if the rank
  // is.
  std::optional<Dims> Of(std::string_view node) const;

 private:
  TF_GraphProperties* properties_;
  bool inferred_ = false;
};

}  // namespace opencl
