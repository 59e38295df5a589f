// Nodes that must share a device. Private to executor/place/.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "executor/place/placer.h"
#include "graph/ir/device_string.h"
#include "graph/ir/graph.h"

namespace tenon {

// What is known of one group, and what is decided. A node alone is a group.
struct Group {
  int32_t size = 1;
  NodeId first = kNoNode;  // its member with the smallest id
  uint64_t mask = 0;       // device types that all members allow
  uint64_t own = 0;        // device types that have a kernel of their own for some member
  const DeviceRequest* request = nullptr;  // what members ask for, merged; null: nothing
  bool by_default = false;                 // the request is the default device's, not the node's
  bool by_options = false;   // the request is the default device's or a flag's, not the graph's
  bool conflict = false;     // members ask for different devices
  bool movers_only = false;  // no member computes anything
  bool by_resource = false;  // joined by an edge that carries a resource or a reference
  bool near = false;         // `device` is also its neighbour's
  Device* device = nullptr;  // null: not decided
  PlaceCode reason = PlaceCode::kPriority;

  // Whether the request says anything about type or ordinal.
  bool AsksForDevice() const {
    return request != nullptr && !(request->type.empty() && request->ordinal < 0);
  }
};

// Two nodes that must share a device.
using NodePair = std::pair<NodeId, NodeId>;

// The groups of a graph's nodes; at first each node is one.
class Groups {
 public:
  explicit Groups(size_t count);
  ~Groups();

  // The node that stands for n's group; the same for all members until the next join.
  NodeId Root(NodeId n);
  Group& Of(NodeId n) { return groups_[Root(n)]; }
  bool IsAlone(NodeId n) { return Of(n).size == 1; }

  // Joins what the pairs connect, a whole group at a time, so that the order of the nodes decides
  // nothing. With `splits`, a group that no device type serves as a whole stays apart. The first
  // group that was joined all the same and that no device type serves, or kNoNode.
  NodeId Join(absl::Span<const NodePair> pairs, bool by_resource, bool splits);

 private:
  class Sets;
  void JoinTwo(NodeId a, NodeId b, bool by_resource);
  void MergeRequests(Group& a, const Group& b);

  std::unique_ptr<Sets> sets_;
  std::vector<Group> groups_;         // by root
  std::deque<DeviceRequest> merged_;  // requests of groups
};

}  // namespace tenon
