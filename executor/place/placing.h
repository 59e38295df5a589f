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
  // By node id: the device string of a rule, else of the graph; the default device is not noted. Of
  // a kept node on its earlier device: what it asked for in the earlier placement, the default
  // device included. Of other kept nodes: empty.
  std::vector<std::string_view> requested;
  // By node id: stays on the device that its device string names. Only in a later placement.
  std::vector<bool> kept;

  // The best device for n's group among the types in `mask`: the host for a group of movers if
  // `mask` has the host, and for an empty mask. Else, if types in `mask` have a kernel of their own
  // for some member, only these count. Of the types that count, the highest kernel priority wins
  // (only for a group of one), then the highest device priority.
  Device* Best(NodeId n, uint64_t mask);
  // The first device in `mask` that fits the request's type and ordinal. Null: none.
  Device* Find(const DeviceRequest& request, uint64_t mask) const {
    return types.Find(request.type, request.ordinal, mask);
  }
  // The device string that node n asks for, for people: its own, a rule's, or the default device.
  // Empty: n asks for none.
  std::string Asked(NodeId n);
};

// An error with this code: "cannot place node 'x' …: why", then the devices of the session and, if
// n is not alone, up to ten members of n's group. 'x' is n if a rule or n's device string asks for
// a device; else the first member of its group for which one does; else the group's first member.
absl::Status Refuse(Placing& p, NodeId n, std::string_view why,
                    absl::StatusCode code = absl::StatusCode::kInvalidArgument);

}  // namespace tenon
