// Whether a program for larger shapes also computes what a program for the exact shapes does.
#pragma once

#include <optional>
#include <string>

#include "executor/stablehlo/lower.h"
#include "graph/ir/graph.h"

namespace tenon {

// The first op that stands against it.
struct PaddingFault {
  NodeId node = kNoNode;  // of the graph; kNoNode: the fault is of no single node
  std::string_view why;   // "combines the elements along a padded dimension"; lives for ever
};

// `exact` and `padded` are one cluster with larger dimensions of some arguments in `padded`. Both
// need a trace, and the values of parameters that are no constants of the graph. Nothing if the
// following is proved: where each argument of `padded` begins with the elements of the exact
// argument, each result begins with the elements of the exact result, but for rounding. The
// elements of a value behind the exact ones may be anything. A flag of a check that is true in
// `padded` is then true in `exact`; a false one says nothing.
//
// Linear in the ops. Goes through both programs op by op, which must be the same but for sizes.
std::optional<PaddingFault> FindPaddingFault(const stablehlo::Program& exact,
                                             const stablehlo::Program& padded);

}  // namespace tenon
