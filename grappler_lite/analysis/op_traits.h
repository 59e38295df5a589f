// What passes may assume of ops by name.
#pragma once

#include <string_view>

#include "graph/ir/graph.h"

namespace tenon {

// Computes an answer whatever the values and shapes of its operands are, as long as their types are
// right: leaving it out hides no error.
bool NeverFails(std::string_view op);

// Whether a node, or one of a function that a node calls, is one behind which values may be dead,
// or never come because it fails on purpose, or which does something beside computing them.
bool MayStopARun(const Graph& graph);

// Whether who waits for n itself may go on without its values: a Switch runs whichever of them is
// dead, and calls and branches, as TensorFlow writes them out, make others wait for no more than
// their functions name as control outputs.
bool IsAwaitedByValueOnly(const Graph& g, NodeId n);

// Whether a call, branch or loop computes every result in each run, even those that nobody reads.
// TensorFlow's kernels do; branches and loops that its graphs mark to be written out compute what
// is read, but for functions that stay calls even then.
bool ComputesAllResults(const AttrSet& attrs);
bool StaysCall(const AttrSet& function);
constexpr std::string_view kWrittenOut = "_lower_using_switch_merge";

// Identity and those that compute the same.
bool IsIdentityLike(std::string_view op);

}  // namespace tenon
