// The nodes that products and convolutions with coded weights take the place of.
// Private to grappler_lite/passes/quantization/.
#pragma once

#include <optional>
#include <string_view>

#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

// What a node multiplies: input 0 by each of `products` inputs from 1 on.
struct WeightedProduct {
  int products = 1;
  bool transpose_b = false;
  bool fuses = false;  // has the attributes of _FusedMatMul
  int first_arg = 2;   // of what is fused, or of a bias for each product
  bool biased = false;
};
// The product that n is, if it is one of a form that coded weights suit.
std::optional<WeightedProduct> AsProduct(const Graph& g, NodeId n);

// Whether n is a product or a convolution of floats, of any form.
bool IsFloatProduct(const Graph& g, NodeId n);

// Appends to `attrs` what n fuses, as _FusedMatMul has it.
void CopyFusedOps(const Graph& g, NodeId n, NewAttrs& attrs);

}  // namespace tenon
