// Finds kernels of a plug-in that no node can ever use. TensorFlow reports such a kernel at the
// node that asks for it, if at all; the host reports it with the plug-in.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// Returns one sentence for each fault of the kernels that the plug-in (its path) has in the
// registry:
//   a kernel for an op that is not registered, or for a device type that is not in `device_types`;
//   a HostMemory argument or a constrained attribute that the op lacks;
//   two kernels that fit the same nodes at the same priority.
// An op or a device may come with another plug-in: the answer holds for the plug-ins loaded now.
std::vector<std::string> DoubtfulKernels(std::string_view plugin,
                                         const std::set<std::string>& device_types);

}  // namespace tenon
