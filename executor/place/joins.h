// Which nodes must share a device. Private to executor/place/.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "executor/place/placing.h"

namespace tenon {

// Joins groups of `p` in two steps:
// 1. the producer and the consumers of a resource or a reference;
// 2. a node and the nodes that its attribute _class names. With soft placement this step leaves out
//    groups that no device serves as a whole.
// Group::mask and Group::request of each node must be set. Nodes with Placing::kept are not joined.
// INVALID_ARGUMENT if no device has kernels for a group that must stay together; names the first
// ten of the group's members.
absl::Status JoinGroups(Placing& p);

}  // namespace tenon
