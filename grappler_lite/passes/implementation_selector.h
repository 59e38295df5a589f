// Case nodes with a branch for each type of device. TensorFlow chooses the branch by a DeviceIndex.
#pragma once

#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// The rewrite of SelectBranches, for Pass::rewrites.
RewriteInfo BranchSelection();

// Turns each DeviceIndex that is not fed into the constant number of the device for which its Case
// nodes run. Returns whether the graph changed.
bool SelectBranches(PassContext& context);

}  // namespace tenon
