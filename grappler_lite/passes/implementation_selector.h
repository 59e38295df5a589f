// Cases with a branch for each device.
#pragma once

#include "grappler_lite/pipeline/pass.h"

namespace tenon {

RewriteInfo BranchSelection();

// Makes each DeviceIndex the number of the device that the Cases that ask it are for. Whether there
// were any.
bool SelectBranches(PassContext& context);

}  // namespace tenon
