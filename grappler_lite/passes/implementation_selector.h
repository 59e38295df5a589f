// Case nodes with a branch for each type of device. TensorFlow chooses the branch by a DeviceIndex.
#pragma once

#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// The rewrite of SelectBranches, for Pass::rewrites.
RewriteInfo BranchSelection();

// Turns each DeviceIndex that is not fed or fetched into the constant number of the device for
// which its Case nodes run. A DeviceIndex stays if other nodes read it, or if its Case nodes run
// for different types of device. Returns whether the graph changed.
bool SelectBranches(PassContext& context);

}  // namespace tenon
