// In which order a run computes nodes that do not need one another. Answers do not depend on it.
#pragma once

namespace tenon {

enum class NodeOrder {
  // Work for devices first (QueueDevicesFirst); of tasks the one with the longest path to the end.
  kAuto,
  // In the order of the graph's nodes; tasks too. A node that stands before one of its inputs runs
  // after the input (TopologicalOrder). Asynchronous kernels still begin early (BeginCallsEarly),
  // as one may wait for another.
  kFile,
};

}  // namespace tenon
