// The order in which nodes are run: producers first; the nodes of a loop together, those of a loop
// within it too; and what only one branch of a conditional needs together, so that a branch that is
// not taken can be jumped over.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

inline constexpr int kMaxLoopDepth = 64;

// A frame of TensorFlow's: what lies between Enter and Exit nodes of one name.
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

// `order` has producers first. `fed_only` by node id: has outside values only. INVALID_ARGUMENT
// for nodes that read values of unrelated loops, UNIMPLEMENTED for loops that wait for each other.
absl::StatusOr<Schedule> MakeSchedule(const Graph& graph, absl::Span<const NodeId> order,
                                      const std::vector<bool>& fed_only);

}  // namespace tenon
