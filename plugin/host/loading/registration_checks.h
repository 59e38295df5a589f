// Finds kernels of a plug-in that no node can use, and kernels that make nodes fail.
// TensorFlow reports such a kernel at the node that asks for it, if at all; the host reports it
// with the plug-in.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// Returns one sentence for each fault of the kernels that the plug-in (its path) has in the
// registry; the sentence names some of the kernels with that fault:
//   a kernel for an op that is not registered, or for a device type that is not in `device_types`;
//   a HostMemory argument that the op lacks, or a constrained attribute that is no type attribute
//   of the op (names that begin with '_' pass);
//   two kernels of the plug-in that fit the same nodes at the same priority (Compete). Each is
//   compared with at most 1000 before it, of the same op and device type.
// An op or a device may come with another plug-in: the answer holds for the plug-ins loaded now.
// Empty if there is no fault, and for a plug-in without kernels. Thread-safe.
std::vector<std::string> DoubtfulKernels(std::string_view plugin,
                                         const std::set<std::string>& device_types);

}  // namespace tenon
