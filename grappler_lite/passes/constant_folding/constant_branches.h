// If, Case and While whose choice is known before a run.
#pragma once

#include <vector>

#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// The rewrites, for Pass::rewrites: "fold_if" and "fold_case" make a node a call of the branch that
// is chosen, "fold_while" makes a loop that never runs its variables' first values.
std::vector<RewriteInfo> ConstantBranches();

// Applies them to all nodes that are not fed. The nodes keep their names and outputs, and wait for
// what they waited for. Whether the graph changed.
bool FoldConstantBranches(PassContext& context);

}  // namespace tenon
