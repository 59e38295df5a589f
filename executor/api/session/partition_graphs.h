// The graphs of a run as they are after the passes, one for each device.
#pragma once

#include <string>
#include <vector>

#include "executor/session/session.h"

namespace tenon::api {

// Returns one GraphDef, serialized, for each device on which a run of `executable` needs a node, in
// the order of the devices' names. A GraphDef has the nodes of its device that the run needs, and
// all functions. A value that goes from one device to another has a _Send and a _Recv node, as in
// TensorFlow; control edges between devices are left out. A node that the run needs for its fed
// output alone becomes a Placeholder if it has one output.
std::vector<std::string> PartitionGraphs(const Executable& executable);

}  // namespace tenon::api
