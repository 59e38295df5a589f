// Case nodes with a branch for each type of device. TensorFlow chooses the branch by a DeviceIndex.
#pragma once

#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// The rewrite of SelectBranches, for Pass::rewrites.
RewriteInfo BranchSelection();

// Turns each DeviceIndex that is not fed or fetched into a constant: the index, in its attribute
// device_names, of the type of device on which its Case nodes run; the length of the list if the
// type is not there. A DeviceIndex stays if no Case reads it, if other nodes read it, or if its
// Case nodes run on different types of device. Returns whether the graph changed.
bool SelectBranches(PassContext& context);

}  // namespace tenon
