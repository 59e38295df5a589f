// In which order a run computes nodes that do not need one another. Answers do not depend on it. In
// each of these orders asynchronous kernels begin early (BeginCallsEarly), as one may wait for
// another.
#pragma once

#include <cstdint>

namespace tenon {

enum class NodeOrder : uint8_t {
  // Work for devices first (QueueDevicesFirst); of tasks the one with the longest path to the end.
  kAuto,
  // As kAuto, without a limit for results of devices that wait for readers on the host.
  kSpeed,
  // The order in which values take the least memory at once, of those that were tried
  // (OrderByMemory). Nodes run one after the other, whatever InterOp says: nodes that run at the
  // same time cannot share memory.
  kMemory,
  // In the order of the graph's nodes; tasks too. An input that stands behind its reader moves
  // forward: it runs directly before the reader (TopologicalOrder).
  kFile,
  // Any order that edges and effects allow, drawn by a seed (ShuffleNodes); so are tasks. For
  // tests: the answer must not depend on it.
  kSeed,
};

}  // namespace tenon
