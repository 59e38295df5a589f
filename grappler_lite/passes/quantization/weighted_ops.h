// The nodes that products and convolutions with coded weights take the place of.
// Private to grappler_lite/passes/quantization/.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

// Fewer weights are not worth their error.
inline constexpr PassOption kMinWeights = {"min_weights", 1024,
                                           "weights of which a product needs so many"};

// What a node multiplies: input 0 by each of `products` inputs from 1 on.
struct WeightedProduct {
  bool projects =
      false;  // is _TenonProjections: one or more products, of matrices that may be split
  int products = 1;
  bool transpose_b = false;
  bool fuses = false;  // has the attributes of _FusedMatMul
  int first_arg = 2;   // of what is fused, or of a bias for each product
  bool biased = false;
};
// The product that n is, if it is one of a form that coded weights suit.
std::optional<WeightedProduct> AsProduct(const Graph& g, NodeId n);

// Whether n is a product or a convolution of floats, of any form but those with coded or quantized
// weights.
bool IsFloatProduct(const Graph& g, NodeId n);

// Why constant weights of this shape stay floats; empty if they may become codes.
std::string WhyNotShape(const WeightedProduct& p, const Shape& weights, int64_t min_weights,
                        int64_t most_terms);
// The same for a number of weights, of which `terms` products are summed.
std::string WhyNotSizes(int64_t weights, int64_t terms, int64_t min_weights, int64_t most_terms);

// The attributes T, transpose_b, num_args and of what is fused, for an op that takes the place of
// n, or of one of n's products.
NewAttrs ProductAttrs(const Graph& g, NodeId n, const WeightedProduct& p);
// Appends to `attrs` those of these attributes that n has.
void CopyAttrs(const Graph& g, NodeId n, std::initializer_list<std::string_view> names,
               NewAttrs& attrs);

}  // namespace tenon
