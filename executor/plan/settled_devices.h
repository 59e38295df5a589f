// The devices with which a run is done when its steps are.
#pragma once

#include <vector>

#include "executor/run/plan.h"

namespace tenon {

// By device of plan.devices: whether the steps of the graph, if none fails and no copy is empty,
// have waited for all work that they queue there. False where the plan does not tell: for work in
// branches and loops, behind a liveness flag, of asynchronous kernels, of CPU kernels that use a
// device's memory, and of reads of reference variables for a device.
std::vector<bool> SettledDevices(const Plan& plan);

}  // namespace tenon
