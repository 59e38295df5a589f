// Rewrites for nodes with some constant operands: they bring the constant operands together, so
// that constant folding can compute them.
#pragma once

#include <span>

#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

std::span<const Rewrite> PartialFolding();

// Whether the graph has a node of an op and a type that these rewrites change. Sums and products of
// other types than integers count only with fast_math, so that most graphs have none and need no
// sweep.
bool MayFoldPartially(const PassContext& context);

}  // namespace tenon
