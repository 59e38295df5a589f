// Which nodes must share a device. Private to executor/place/.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "executor/place/placing.h"

namespace tenon {

// Joins groups of `p` in two steps:
// 1. the producer and the consumers of a resource or a reference;
// 2. a node and the nodes that its attribute _class names. Names of missing nodes and a malformed
//    attribute count for nothing. With soft placement this step leaves apart the groups that no
//    device would serve together.
// Each node must be a group of one, with all set that limits its choice (Group). Nodes with
// Placing::kept are not joined.
// INVALID_ARGUMENT if no device has kernels for a group of step 1 or, without soft placement, of
// step 2; names the ten members with the smallest ids.
absl::Status JoinGroups(Placing& p);

}  // namespace tenon
