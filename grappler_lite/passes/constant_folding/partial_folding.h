// Where only some operands are constant: those are brought together, so that folding computes
// them.
#pragma once

#include <span>

#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

std::span<const Rewrite> PartialFolding();

// Whether there is an op for them at all: most graphs are spared a sweep.
bool MayFoldPartially(const PassContext& context);

}  // namespace tenon
