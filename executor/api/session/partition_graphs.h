// The graphs of a run as they are after the passes, one for each device.
#pragma once

#include <string>
#include <vector>

#include "executor/session/session.h"

namespace tenon::api {

// Serialized GraphDefs, in the order of the names of devices, with the nodes that a run of
// `executable` needs. A value that goes from one device to another has a _Send and a _Recv, as in
// TensorFlow; control edges between devices are left out. A node that is there for its fed
// output alone is a placeholder, if it has one output. Each graph has all functions.
std::vector<std::string> PartitionGraphs(const Executable& executable);

}  // namespace tenon::api
