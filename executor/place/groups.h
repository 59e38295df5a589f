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

// A group of nodes that share a device: what limits the choice, then the choice. A node that shares
// its device with no other is a group of one.
struct Group {
  int32_t size = 1;
  NodeId first = kNoNode;  // its member with the smallest id
  uint64_t mask = 0;       // device types that all members allow; without any kernel: the host's
  uint64_t own = 0;        // device types that have a kernel of their own for some member
  // The members' requests, merged; if they conflict, one of them. Null: none. Not owned.
  const DeviceRequest* request = nullptr;
  bool by_default = false;   // the request comes from PlacerOptions::default_device
  bool by_options = false;   // a part of the request comes from the default device or a rule
  bool conflict = false;     // members ask for different devices
  bool movers_only = false;  // no member computes anything
  bool by_resource = false;  // joined by an edge that carries a resource or a reference
  bool near = false;         // a neighbour rule chose `device` or agrees with it
  Device* device = nullptr;  // null: not decided yet
  PlaceCode reason = PlaceCode::kPriority;

  // Whether the request names a device type or an ordinal. A request may name the task alone.
  bool AsksForDevice() const {
    return request != nullptr && !(request->type.empty() && request->ordinal < 0);
  }
};

// Two nodes that must share a device.
using NodePair = std::pair<NodeId, NodeId>;

// The groups of a graph's nodes, as a disjoint-set forest. At first each node is a group of one.
// Not thread-safe.
class Groups {
 public:
  explicit Groups(size_t count);
  ~Groups();

  // The node that represents n's group: the same for all members until the next Join.
  NodeId Root(NodeId n);
  // The group of node n. The reference stands for the group until the next Join.
  Group& Of(NodeId n) { return groups_[Root(n)]; }
  bool IsAlone(NodeId n) { return Of(n).size == 1; }
  // All members of n's group, the smallest id first. Takes the time to sort them.
  std::vector<NodeId> Members(NodeId n) const;

  // Joins the groups that the pairs connect, directly or through other pairs: a component. A device
  // type serves a component if it is in the masks of all its groups. With `splits`, a component
  // that no device type serves is not joined at all; a component is judged as a whole, so the order
  // of the pairs does not matter. If `by_resource` is true, Group::by_resource of the joined groups
  // becomes true. Returns the root of a group of the pairs that no device type serves, the first in
  // the order of the pairs; kNoNode if there is none.
  NodeId Join(absl::Span<const NodePair> pairs, bool by_resource, bool splits);

 private:
  class Sets;
  void JoinTwo(NodeId a, NodeId b, bool by_resource);
  void MergeRequests(Group& a, const Group& b);

  std::unique_ptr<Sets> sets_;
  std::vector<Group> groups_;         // by root; entries of other nodes are out of date
  std::vector<NodeId> next_;          // the next member of the node's group, in a ring
  std::deque<DeviceRequest> merged_;  // merged requests; groups point to them, so they never move
};

}  // namespace tenon
