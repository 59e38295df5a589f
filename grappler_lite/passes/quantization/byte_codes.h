// Constants of floats as numbers of 8 bits.
// Private to grappler_lite/passes/quantization/.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/tensor/tensor.h"

namespace tenon {

// Element [i, j] of the matrix that a constant is stands for (codes[i, j] - zeros[j]) * scales[j].
struct ByteCodes {
  Tensor codes;   // int8, in the constant's shape
  Tensor scales;  // float, one for each column
  Tensor zeros;   // int32, one for each column
};

// How floats of any shape are a matrix: the columns are the last dimension, or the first.
struct WeightColumns {
  int64_t count;
  bool first = false;
};

// The codes of weights that somebody rounded to 8 bits before: each column holds multiples of one
// number, of which the greatest and the least are at most 255 apart. What they stand for is within
// 2 % of that number of the weights. nullopt for other weights, a NaN or an infinity among them,
// and when memory is short.
std::optional<ByteCodes> ExactCodes(const Tensor& weights, WeightColumns columns);

// The nearest codes of -127 to 127, by the greatest magnitude of each column. nullopt if a weight
// is NaN or infinite, and when memory is short.
std::optional<ByteCodes> NearestCodes(const Tensor& weights, WeightColumns columns);

}  // namespace tenon
