// Why a node is not on the other devices. Private to executor/place/.
#pragma once

#include <vector>

#include "executor/place/placing.h"

namespace tenon {

// One entry for each device of the session on which node n is not, in the session's order. If n or
// its group asks for a device that does not exist, an entry before these says so and has no device.
// To be called after all rules, neighbour rules included.
std::vector<RejectedDevice> WhyNotOtherDevices(Placing& p, NodeId n);

}  // namespace tenon
