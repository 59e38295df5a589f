// The state of one placement, shared by the steps of Place(). Private to executor/place/.
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

// Used by one thread, for the duration of one call of Place(), which owns it.
struct Placing {
  const Graph& graph;
  const PlacerOptions& options;
  DeviceTypes types;
  std::vector<NodeId> order;  // producers first
  Groups groups;
  std::vector<std::string_view> requested;  // by node id: the request of the graph or a rule
  std::vector<bool> kept;                   // by node id: stays where it was before the passes

  // The best device for n's group among the types in `mask`:
  // * the host for a group of movers, if `mask` has the host;
  // * else a type with a kernel of its own for some member, if there is one;
  // * among those, the highest kernel priority (groups of one only), then device priority.
  // The host for an empty mask.
  Device* Best(NodeId n, uint64_t mask);
  // The first device in `mask` that fits the request's type and ordinal. Null: none.
  Device* Find(const DeviceRequest& request, uint64_t mask) const {
    return types.Find(request.type, request.ordinal, mask);
  }
  // The device string that node n asks for, for people: its own, a rule's, or the default device.
  // Empty: n asks for none.
  std::string Asked(NodeId n);
};

// An error with this code: "cannot place node 'x' …: why", then the devices of the session and up
// to ten members of n's group.
absl::Status Refuse(Placing& p, NodeId n, std::string_view why,
                    absl::StatusCode code = absl::StatusCode::kInvalidArgument);

}  // namespace tenon
