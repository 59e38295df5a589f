// Folds If, Case and While nodes that choose the same branch in every run.
#pragma once

#include <vector>

#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// The rewrites, for Pass::rewrites. "fold_if" and "fold_case" turn a node into a call of the chosen
// branch. "fold_while" turns a loop that never runs into an Identity (IdentityN) of its first
// values. A loop that is marked to be written out (kWrittenOut) and is not preserved also stays if
// one of its variables, other than the first, has these two properties: its first value comes from
// a node that is neither fed nor a Const, and its result is read neither by a node that a fetch
// needs nor by a preserved one.
std::vector<RewriteInfo> ConstantBranches();

// Applies the rewrites to all nodes that are neither fed nor marked to stay, fetched nodes among
// them. Nodes keep their names, devices and control inputs, and the number and types of their
// outputs. Returns whether the graph changed.
bool FoldConstantBranches(PassContext& context);

}  // namespace tenon
