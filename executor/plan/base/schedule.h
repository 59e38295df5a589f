// The order in which nodes run:
// * a producer runs before its consumers;
// * the nodes of a loop stand together, and within them the nodes of each inner loop;
// * the nodes that run only if one branch of a conditional is taken (they read a Switch's output)
//   stand together as far as their inputs allow that, so that a run can jump over the branch. A
//   branch more than 64 deep may be mixed with the branch around it.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

inline constexpr int kMaxLoopDepth = 64;  // loops around each other

// A loop, in TensorFlow's terms a frame: the nodes from its Enter to its Exit nodes. Enter nodes
// enter one loop if they have one frame name and come from one loop around it; so two loops may
// have one frame name.
struct LoopNodes {
  int32_t parent = -1;         // the loop around it, of Schedule::loops; -1: none
  int depth = 1;               // an outermost loop has depth 1
  std::string_view frame;      // the frame's name, in the graph's storage
  size_t begin = 0, end = 0;   // its nodes are order[begin] to order[end - 1], inner loops included
  std::vector<NodeId> enters;  // its Enter nodes, in the order that MakeSchedule was given
};

struct Schedule {
  std::vector<NodeId> order;
  std::vector<LoopNodes> loops;  // a loop stands behind the loop around it
  // By node id: the innermost loop of the node; -1: none. Enter and Exit nodes belong to the loop
  // that they enter or leave. Empty without loops.
  std::vector<int32_t> loop_of;
  // By node id: the node's position in the order that MakeSchedule made, if `order` was sorted
  // since (call_order.h, device_order.h, free_order.h). Else empty.
  std::vector<uint32_t> places;
};

// `order`: the needed nodes, producers first, apart from the edges that close loops. `fed_only`: by
// node id, whether only fed outputs of the node are needed; its inputs then do not matter. The
// result holds the same nodes. Of the nodes that may come next, those of the branch that the node
// before is in are preferred, then those of branches within it. Of the nodes of one branch the
// first in `order` comes, and loops come behind nodes. Without control flow Schedule::order is
// `order` itself. Takes O(n log n).
//
// Errors name the node, except for INTERNAL:
// * INVALID_ARGUMENT: a node reads values of unrelated loops, is the Exit, NextIteration or
//   LoopCond of no loop, or is an Enter without a frame name.
// * UNIMPLEMENTED: a loop waits for a value that needs a result of the same loop, or loops lie more
//   than kMaxLoopDepth deep in each other.
// * INTERNAL: `order` has a cycle.
absl::StatusOr<Schedule> MakeSchedule(const Graph& graph, absl::Span<const NodeId> order,
                                      const std::vector<bool>& fed_only);

// Sets Schedule::places to the order as it is, before it is sorted.
void NotePlaces(const Graph& graph, Schedule& schedule);

}  // namespace tenon
