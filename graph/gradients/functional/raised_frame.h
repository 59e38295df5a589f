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
  // Copies the nodes on which the next values depend. A read of an outer value is that of an
  // argument, be it behind the Switch or before it. UNIMPLEMENTED for a loop that has not the form
  // of TensorFlow's while_loop: names the node.
  static absl::StatusOr<RaisedFrame> Raise(const Graph& graph, const LoopFrames& frames, int loop);

  NodeId condition = kNoNode;                     // LoopCond
  std::vector<FrameVariable> variables;           // by number of the Enter in the LoopFrame
  std::vector<int> variable_of_exit;              // by number of the Exit
  FunctionGraph body;                             // an argument and a result for each variable
  absl::flat_hash_map<Output, Output> arguments;  // what an argument stands for, in the loop
  absl::flat_hash_map<NodeId, NodeId> originals;  // by copy
};

}  // namespace tenon::gradients
