// The loops of version 1 in a graph: frames of Enter, Merge, Switch, NextIteration and Exit.
// Private to graph/gradients/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon::gradients {

// A loop in no other loop. Loops within belong to it as a whole. If the loop is well-formed,
// `conditions` has one node.
struct LoopFrame {
  std::string name;
  std::vector<NodeId> enters;      // of this frame, not of frames within
  std::vector<NodeId> exits;       // the same
  std::vector<NodeId> merges;      // those of this frame that a NextIteration leads to
  std::vector<NodeId> conditions;  // LoopCond; a loop has one
};

class LoopFrames {
 public:
  // Errors are those of TopologicalOrder, for a graph with an Enter. Linear in the graph.
  static absl::StatusOr<LoopFrames> Find(const Graph& graph);

  bool empty() const { return loops_.empty(); }
  absl::Span<const LoopFrame> loops() const { return loops_; }
  // The index in loops() of the loop to which the node belongs. The Enter and Exit nodes of a loop
  // belong to it. -1: the node belongs to no loop, or was added after Find.
  int LoopOf(NodeId n) const {
    return n >= 0 && n < static_cast<NodeId>(loop_of_.size()) ? loop_of_[n] : -1;
  }
  // Whether the node is an Exit of a loop in no other loop: what it gives is outside of the loop.
  bool IsWayOut(NodeId n) const { return LoopOf(n) >= 0 && is_way_out_[n]; }

 private:
  std::vector<LoopFrame> loops_;
  std::vector<int32_t> loop_of_;
  std::vector<bool> is_way_out_;
};

}  // namespace tenon::gradients
