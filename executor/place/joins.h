// Which nodes must share a device. Private to executor/place/.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "executor/place/placing.h"

namespace tenon {

// Joins the groups of p: producers and consumers of resources and references, then nodes and those
// that they name in _class. INVALID_ARGUMENT names a group that no device has kernels for and that
// must stay together.
absl::Status JoinGroups(Placing& p);

}  // namespace tenon
