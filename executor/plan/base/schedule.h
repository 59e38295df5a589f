// The order in which nodes run:
// * a producer runs before its consumers;
// * the nodes of a loop stand together, and within them the nodes of each inner loop;
// * the nodes that only one branch of a conditional needs stand together, so that a run can jump
// over
//   a branch that is not taken.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

inline constexpr int kMaxLoopDepth = 64;

// A loop, in TensorFlow's terms a frame: the nodes between the Enter and Exit nodes of one frame
// name.
struct LoopNodes {
  int32_t parent = -1;
  int depth = 1;
  std::string_view frame;
  size_t begin = 0, end = 0;   // of Schedule::order
  std::vector<NodeId> enters;  // in order
};

struct Schedule {
  std::vector<NodeId> order;
  std::vector<LoopNodes> loops;
  std::vector<int32_t> loop_of;  // by node id; Enter and Exit nodes are of their loop. Empty
                                 // without loops
  std::vector<uint32_t> places;  // by node id: where it stands in the graph's order, if `order` is
                                 // another one (executor/plan/base/call_order.h); else empty
};

// `order`: the needed nodes, producers first. `fed_only`: by node id, whether only fed outputs of
// the node are needed. INVALID_ARGUMENT for a node that reads values of unrelated loops;
// UNIMPLEMENTED for loops that wait for each other.
absl::StatusOr<Schedule> MakeSchedule(const Graph& graph, absl::Span<const NodeId> order,
                                      const std::vector<bool>& fed_only);

}  // namespace tenon
