// A loop of version 1 as a body: what one iteration computes, as the body of a While does.
// Private to graph/gradients/functional/.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/functions/function_graph.h"
#include "graph/gradients/control_flow/loop_frames.h"
#include "graph/ir/graph.h"

namespace tenon::gradients {

// What one Enter brings into the loop.
struct FrameVariable {
  NodeId enter = kNoNode;
  NodeId merge = kNoNode;   // none: the Enter gives the same value in each iteration
  Output next;              // what the NextIteration reads; none without a Merge
  NodeId divide = kNoNode;  // a Switch behind the Merge, which LoopCond steers; perhaps none
};

struct RaisedFrame {
  // Raises frames.loops()[loop]. Copies the nodes on which the next values of the variables depend,
  // and constants outside of the loop that these nodes read. In the copies, a read of a variable,
  // from the Merge, from output 1 of the Switch behind the Merge or from an Enter without a Merge,
  // is a read of the argument; control edges from these nodes are left out.
  // UNIMPLEMENTED for a loop that has not the form of TensorFlow's while_loop; INVALID_ARGUMENT for
  // a node that lacks an input. Both name the node; the error for a frame without exactly one
  // LoopCond names none.
  static absl::StatusOr<RaisedFrame> Raise(const Graph& graph, const LoopFrames& frames, int loop);

  NodeId condition = kNoNode;                     // LoopCond
  std::vector<FrameVariable> variables;           // by number of the Enter in the LoopFrame
  std::vector<int> variable_of_exit;              // by number of the Exit; -1: it gives no variable
  FunctionGraph body;                             // an argument and a result for each variable
  absl::flat_hash_map<Output, Output> arguments;  // by argument of the body: the loop's output
  absl::flat_hash_map<NodeId, NodeId> originals;  // by copy in the body: the node of the loop
};

}  // namespace tenon::gradients
