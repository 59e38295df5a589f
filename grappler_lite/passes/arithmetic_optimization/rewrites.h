// The rewrites of arithmetic_optimization, by theme: one file each.
#pragma once

#include <span>

#include "grappler_lite/pipeline/rewriter.h"

namespace tenon::arithmetic {

std::span<const Rewrite> NeutralElements();  // x*1, x-0, …
std::span<const Rewrite> Decided();          // x*0, x-x, …
std::span<const Rewrite> InversePairs();     // -(-x), |-x|, x+(-y), …
std::span<const Rewrite> Casts();            // chains of Cast and Bitcast, and where they stand
std::span<const Rewrite> Reshapes();         // what moves no element
std::span<const Rewrite> Transposes();       // chains of them, and what can read transposed
std::span<const Rewrite> Lists();            // Concat, Split, Pack, Unpack and slices of them
std::span<const Rewrite> Hoisting();         // unary ops out of lists
std::span<const Rewrite> Reductions();       // chains of them, and what they reduce
std::span<const Rewrite> Gradients();        // sums over what a broadcast repeated
std::span<const Rewrite> Aggregation();      // sums, products and their order
std::span<const Rewrite> Functions();        // Pow, Log, Exp, … said in a cheaper way
std::span<const Rewrite> Segments();         // sums of rows that are looked up
std::span<const Rewrite> Contractions();     // factors moved into weights

}  // namespace tenon::arithmetic
