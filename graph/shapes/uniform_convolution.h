// The shapes of UniformQuantizedConvolution and UniformQuantizedConvolutionHybrid: any number of
// spatial dimensions, in any place. Shared by shape function and kernel.
#pragma once

#include <string>
#include <vector>

#include "graph/base/status_macros.h"
#include "graph/tensor/shape.h"

namespace tenon::ops {

// Empty strides and dilations stand for 1 everywhere. Empty dimension_numbers, and those without
// spatial dimensions of the lhs, stand for the order batch, features, spatial dimensions.
// explicit_padding has the sizes before and behind each spatial dimension; it is empty unless
// `padding` is EXPLICIT.
struct UniformConvolutionAttrs {
  std::vector<int64_t> strides, lhs_dilation, rhs_dilation, explicit_padding;
  int64_t feature_groups, batch_groups;
  std::string padding;
  std::string dimension_numbers;  // a message UniformQuantizedConvolutionDimensionNumbersAttr
};

// Reads the attributes from the context of a shape function or of a kernel's preparation.
// INVALID_ARGUMENT names an attribute that is missing or of the wrong type.
template <typename Context>
absl::StatusOr<UniformConvolutionAttrs> ReadUniformConvolutionAttrs(const Context& c) {
  UniformConvolutionAttrs a;
  TENON_ASSIGN_OR_RETURN(a.strides, c.AttrIntList("window_strides"));
  TENON_ASSIGN_OR_RETURN(a.lhs_dilation, c.AttrIntList("lhs_dilation"));
  TENON_ASSIGN_OR_RETURN(a.rhs_dilation, c.AttrIntList("rhs_dilation"));
  TENON_ASSIGN_OR_RETURN(a.explicit_padding, c.AttrIntList("explicit_padding"));
  TENON_ASSIGN_OR_RETURN(a.feature_groups, c.AttrInt("feature_group_count"));
  TENON_ASSIGN_OR_RETURN(a.batch_groups, c.AttrInt("batch_group_count"));
  TENON_ASSIGN_OR_RETURN(const std::string_view padding, c.AttrString("padding"));
  TENON_ASSIGN_OR_RETURN(const std::string_view numbers, c.AttrString("dimension_numbers"));
  a.padding = std::string(padding);
  a.dimension_numbers = std::string(numbers);
  return a;
}

// A spatial dimension of a convolution of known shapes: sizes of the image, the filter and the
// output, in elements. Values of the lhs (the image) lie `lhs_dilation` apart, those of the rhs
// (the filter) `rhs_dilation`; gaps and padding of the image count as 0. `before` is the padding in
// front.
struct UniformConvolutionAxis {
  int64_t in, size, out;
  int64_t stride, lhs_dilation, rhs_dilation, before;
};

struct UniformConvolution {
  // The number of the dimension of a tensor that has each role.
  struct Order {
    int64_t batch, feature;
    std::vector<int64_t> spatial;
  };
  Order lhs, rhs, out;  // of rhs, `batch` is the output features' and `feature` the input features'
  std::vector<UniformConvolutionAxis> axes;  // in the order of `spatial`
  int64_t feature_groups, batch_groups;
  Shape out_shape;
};

// Computes dimensions and output shape. INVALID_ARGUMENT where attributes and shapes do not fit.
// Pure and thread-safe.
absl::StatusOr<UniformConvolution> MakeUniformConvolution(const UniformConvolutionAttrs& attrs,
                                                          const Shape& lhs, const Shape& rhs);

}  // namespace tenon::ops
