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

// nullopt for a step that is no positive number, multiples without 0, or more than 256 of them.
std::optional<ValueGrid> MakeGrid(float step, double least, double most);

// As FindGrid, of values that single ops compute: scaled, rounded, limited, cast to an integer type
// and back, and scaled again.
std::optional<GridValue> FindComputedGrid(const Sweep& s, Output o);

// What `o` is: the result of FakeQuantWithMinMaxArgs and -Vars, of QuantizeAndDequantizeV2 to V4 by
// a given range, or of Dequantize, with constant ranges of the whole tensor, and of what moves such
// values. nullopt for all else. `from` is `o` where more than rounding makes the value.
std::optional<GridValue> FindGrid(const Sweep& s, Output o);

}  // namespace tenon
