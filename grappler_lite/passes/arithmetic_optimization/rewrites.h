// The rewrites of arithmetic_optimization, by theme. Each theme has a source file of its name; the
// tables live as long as the process.
#pragma once

#include <span>

#include "grappler_lite/pipeline/rewriter.h"

namespace tenon::arithmetic {

std::span<const Rewrite> NeutralElements();  // x*1, x-0, …
std::span<const Rewrite> Decided();          // x*0, x-x, …
std::span<const Rewrite> InversePairs();     // -(-x), |-x|, x+(-y), …
std::span<const Rewrite> Casts();            // chains of Cast and Bitcast, and their places
std::span<const Rewrite> Reshapes();         // ops that move no element
std::span<const Rewrite> Transposes();    // chains of Transpose, and ops that can read transposed
std::span<const Rewrite> Lists();         // Concat, Split, Pack, Unpack and their slices
std::span<const Rewrite> Hoisting();      // unary ops out of lists
std::span<const Rewrite> Reductions();    // chains of reductions, and their operands
std::span<const Rewrite> Gradients();     // sums over dimensions that a broadcast repeated
std::span<const Rewrite> Aggregation();   // sums, products and their order
std::span<const Rewrite> Functions();     // Pow, Log, Exp, … as cheaper ops
std::span<const Rewrite> Segments();      // sums of gathered rows
std::span<const Rewrite> Contractions();  // factors moved into weights

}  // namespace tenon::arithmetic
