// Why a node is not on the other devices. Private to executor/place/.
#pragma once

#include <vector>

#include "executor/place/placing.h"

namespace tenon {

// One entry for each device of the session on which node n is not, in the session's order. If n's
// group has the reason kUnavailable, an entry before these stands for the device that it asks for,
// and has no device. To be called after all rules, neighbour rules included.
std::vector<RejectedDevice> WhyNotOtherDevices(Placing& p, NodeId n);

}  // namespace tenon
