// Case nodes with a branch for each type of device. TensorFlow chooses the branch by a DeviceIndex.
#pragma once

#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// The rewrite of SelectBranches, for Pass::rewrites.
RewriteInfo BranchSelection();

// Turns each DeviceIndex that is not fed or fetched into a constant: the index, in its attribute
// device_names, of the type of device of its Case nodes; the length of the list if the type is not
// there. The type is the one that the Case asks for, else that of the caller's device, else CPU. A
// DeviceIndex stays if no Case reads it to choose its branch, if its value is read otherwise, if
// its Case nodes have different types of device or a malformed device, if it has no list
// device_names, or if its own device has no kernel for the constant. Returns whether the graph
// changed.
bool SelectBranches(PassContext& context);

}  // namespace tenon
