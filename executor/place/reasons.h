// Why a node is not on the other devices. Private to executor/place/.
#pragma once

#include <vector>

#include "executor/place/placing.h"

namespace tenon {

// One entry per device that n is not on, once its group is decided.
std::vector<RejectedDevice> WhyNotElsewhere(Placing& p, NodeId n);

}  // namespace tenon
