// One placement on its way: what the steps of place() know and decide. Private to executor/place/.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/place/device_types.h"
#include "executor/place/groups.h"
#include "executor/place/placer.h"
#include "graph/ir/graph.h"

namespace tenon {

struct Placing {
  const Graph& graph;
  const PlacerOptions& options;
  DeviceTypes types;
  std::vector<NodeId> order;  // producers first
  Groups groups;
  std::vector<std::string_view> requested;  // by node id: what the graph or a flag says
  std::vector<bool> kept;                   // by node id: stays where it was before the passes

  // The best device type in `mask` for n's group: highest priority of the kernel (a lone node),
  // then of the device. A group without anything to compute goes to the host. A device that has
  // only the host's kernels for a group does not compute it either.
  Device* Best(NodeId n, uint64_t mask);
  // The first device in `mask` that a request fits.
  Device* Find(const DeviceRequest& request, uint64_t mask) const {
    return types.Find(request.type, request.ordinal, mask);
  }
  // What n asks for, itself or by the default device.
  std::string Asked(NodeId n);
};

// "cannot place node 'x' …: why", with the devices that there are and the members of n's group.
absl::Status Refuse(Placing& p, NodeId n, std::string_view why,
                    absl::StatusCode code = absl::StatusCode::kInvalidArgument);

}  // namespace tenon
