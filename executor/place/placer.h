// Gives every node a device, and says why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/place/place_codes.h"
#include "graph/ir/device_string.h"
#include "graph/ir/graph.h"
#include "plugin/device/device.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

// A device on which a node was not placed.
struct RejectedDevice {
  Device* device = nullptr;  // null: the requested device, which does not exist
  PlaceCode code;
  std::string detail;  // for people
};

// The device of one node, with the reason. Devices are not owned.
struct NodePlacement {
  Device* device = nullptr;  // null: a removed node
  // The node's op at the time of placement: a pass may change it later. A view of the graph's
  // storage.
  std::string_view op;
  // What the node asks for: the device string of a rule, of the graph, or the default device.
  // Empty: it asks for none.
  std::string requested;
  PlaceCode reason = PlaceCode::kPriority;
  std::vector<RejectedDevice> rejected;  // every other device, and a requested one that is missing
};

// Devices are written as ParseDeviceFlag reads them.
struct PlacerOptions {
  bool soft_placement = true;  // false: any request that cannot be met is an error
  bool fallback = true;        // false: a default device or a rule that cannot be met is an error
  // The device that a node asks for if no rule matches it and it has no device string, or one that
  // names this task alone. Two kinds of nodes do not ask for it: those whose op only moves values
  // (OpFacts::mover), and those that call functions and cannot run on it; the nodes of the
  // functions ask for it by themselves. Empty: there is no default device.
  std::string default_device;
  // Whether branches go to all devices of a type instead of its first one (SpreadBranches).
  bool spread = false;
  // With `spread`: the number of the device of its type that the first branch prefers; counted
  // around where a type has fewer. Placements with other numbers serve runs at the same time.
  int spread_from = 0;
  // (NamePattern, device). The first pattern that matches a node's name wins, over the node's own
  // device string too.
  std::vector<std::pair<std::string, std::string>> rules;
};

// Reads a device in the spelling of --device and --place: "APU", "APU:0", "/APU:0", or any device
// string that a graph may hold. Does not ask whether the device exists. INVALID_ARGUMENT quotes the
// text.
absl::StatusOr<DeviceRequest> ParseDeviceFlag(std::string_view text);

// Chooses a device for every live node. Returns the placements by node id; entries of removed nodes
// have no device. Does not change the graph (ApplyPlacement does). Takes time linear in the graph.
// Thread-safe for different graphs, and for one graph that nobody edits.
//
// `devices`: those of one type in order of ordinal; the CPU among them. The result points to them.
// `previous`: the placement before the passes ran, by node id; empty for the first placement. An
// entry without a device means a new node. If `previous` is not empty, a node stays where its
// device string says, if that is the full name of a device of the session that can run the node.
// New nodes stay too. All other nodes are decided anew. The reason of a node that stays:
// * on its earlier device, with its earlier op: the earlier reason. NodePlacement::rejected is the
//   earlier one too, unless the reason is about neighbours (kGreedy): then it is found anew.
// * on its earlier device, with another op: the earlier reason if that one has outlives_op
//   (place_codes.h). Otherwise kPriority or kGreedy if the device is the best one for the node,
//   and kPassMoved if it is not.
// * on another device, or a new node: kPassMoved.
//
// A node without a kernel on any device goes to the CPU with reason kNoKernel: only a run that
// needs the node fails. But a request of such a node that must be met is an error.
//
// Errors:
// * FAILED_PRECONDITION: the CPU is not among the devices.
// * INVALID_ARGUMENT: a request is malformed or cannot be met, no device serves a group, the graph
//   has a cycle, or there are more than 64 device types. For a request or a group the message names
//   the node, its op, its request and its group.
// * UNIMPLEMENTED: a default device or a rule must be met, but the device has no kernel for the
//   node or its group.
// * The error of the registry, if registrations of kernels contradict each other.
absl::StatusOr<std::vector<NodePlacement>> Place(const Graph& graph,
                                                 absl::Span<Device* const> devices,
                                                 const KernelRegistry& kernels,
                                                 const PlacerOptions& options,
                                                 absl::Span<const NodePlacement> previous = {});

// Removes the devices that compile (Device::compiles) from `devices`. Returns whether there were
// some. If so, sets soft_placement and fallback of `options`: no request need then be met.
bool TakeCompilingOut(std::vector<Device*>& devices, PlacerOptions& options);

// Writes the full name of each node's device into the graph. `placement` is by node id; a node
// without an entry, or with an entry that has no device, keeps its device string. With
// `keeps_unavailable`, so does a node with reason kUnavailable: the graph may be written for a
// machine that has the device.
void ApplyPlacement(Graph& graph, absl::Span<const NodePlacement> placement,
                    bool keeps_unavailable = false);

}  // namespace tenon
