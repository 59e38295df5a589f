// Kernels of a plug-in that no node can ever use. TensorFlow tells at the node that asks for one,
// if at all; here it is told of the plug-in.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// One sentence for each thing that is wrong with what the plug-in registered: kernels for an op or
// a device type that nobody has, HostMemory arguments and constrained attributes that the op does
// not have, kernels that nothing tells apart. `device_types` are those that are here. What is
// missing may come with another plug-in: the answer holds for those that are loaded now.
std::vector<std::string> DoubtfulKernels(std::string_view plugin,
                                         const std::set<std::string>& device_types);

}  // namespace tenon
