// Branches of a graph on several devices of one type. Private to executor/place/.
#pragma once

#include "executor/place/placing.h"

namespace tenon {

// With PlacerOptions::spread, moves nodes to other devices of the type on which they are, so that
// branches that do not need each other can compute at the same time. Moves no node that is kept,
// has state, takes a resource, shares its device with others or asks for an ordinal. Costs are
// guessed: each node that may move counts the same, a copy between devices twice that, and all else
// nothing. Takes O(n log n).
void SpreadBranches(Placing& p);

}  // namespace tenon
