// In which order nodes run that may run in any.
#pragma once

namespace tenon {

enum class NodeOrder {
  // Work for devices first (QueueDevicesFirst); of tasks the one with the longest path to the end.
  kAuto,
  // As they stand in the graph, if the graph is sorted; tasks too. Asynchronous kernels still begin
  // early (BeginCallsEarly), as one may wait for another.
  kFile,
};

}  // namespace tenon
