// Why a node is not on the other devices. Private to executor/place/.
#pragma once

#include <vector>

#include "executor/place/placing.h"

namespace tenon {

// One entry for each device of the session on which node n is not. If n asks for a device that does
// not exist, the first entry says so and has no device. To be called after all rules, neighbour
// rules included.
std::vector<RejectedDevice> WhyNotOtherDevices(Placing& p, NodeId n);

}  // namespace tenon
