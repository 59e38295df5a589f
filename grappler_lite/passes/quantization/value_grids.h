// Values that are rounded to 8 bits in the graph.
// Private to grappler_lite/passes/quantization/.
#pragma once

#include <optional>

#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

// The multiples of `step` from `least` to `most`: at most 256 of them, with 0 among them.
struct ValueGrid {
  float step;
  int least, most;
};

// A value that is `from`, rounded to the nearest number of the grid.
struct GridValue {
  Output from;
  ValueGrid grid;
};

// nullopt for a step that is no positive normal number, multiples without 0, fewer than 2 of them,
// or more than 256.
std::optional<ValueGrid> MakeGrid(float step, double least, double most);

// The grid of `o`, if `o` is of type float and
//   * the result of FakeQuantWithMinMaxArgs or -Vars, of QuantizeAndDequantizeV2 to V4 by a given
//     range, or of Dequantize, with constant ranges of the whole tensor;
//   * what FindComputedGrid finds;
//   * what up to 16 ops that move values or choose among them, such as Reshape and MaxPool, make of
//     these.
// nullopt for all else. GridValue::from is `o` itself where the value is made by more than
// rounding.
std::optional<GridValue> FindGrid(const Sweep& s, Output o);

// The part of FindGrid for rounding that a graph writes out in single ops: values are scaled,
// rounded, limited, cast to an integer type and back, and scaled again.
std::optional<GridValue> FindComputedGrid(const Sweep& s, Output o);

}  // namespace tenon
