// Gives every node a device, and says why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/device_string.h"
#include "graph/ir/graph.h"
#include "plugin/device/device.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

// Why a node is where it is, or is not where it might be. Names are the command line's codes.
enum class PlaceCode : uint8_t {
  kNoKernel,     // NO_KERNEL: no kernel of this op for the device type
  kDtype,        // DTYPE: a kernel, but not for these types
  kHostMemory,   // HOST_MEMORY
  kColocation,   // COLOCATION: follows the group
  kResource,     // RESOURCE
  kPinned,       // PINNED: the node or a rule asks for it
  kPassMoved,    // PASS_MOVED: a pass put it there
  kPriority,     // PRIORITY: the device of highest priority that has a kernel
  kGreedy,       // GREEDY: needs no computing, so it stays where it causes the fewest copies
  kUnavailable,  // UNAVAILABLE: the requested device does not exist
};
std::string_view PlaceCodeName(PlaceCode code);

struct RejectedDevice {
  Device* device = nullptr;  // null: a requested device that does not exist (named in detail)
  PlaceCode code;
  std::string detail;
};

struct NodePlacement {
  Device* device = nullptr;
  std::string_view op;    // that was placed (passes may change a node's op): the graph's own
  std::string requested;  // as the graph or a rule has it; empty: free
  PlaceCode reason = PlaceCode::kPriority;
  std::vector<RejectedDevice> rejected;
};

struct PlacerOptions {
  bool soft_placement = true;  // false: a request that cannot be met is an error
  bool fallback = true;        // false: so is the default device or a rule that cannot be met
  std::string default_device;  // for nodes without a request; empty: by priority
  std::vector<std::pair<std::string, std::string>>
      rules;  // NamePattern -> device; first match wins
};

// The looser spelling of --device and --place: "APU", "APU:0", "/APU:0" and all that a graph may
// say.
absl::StatusOr<DeviceRequest> ParseDeviceFlag(std::string_view text);

// Placement of all live nodes by id (entries of removed nodes are empty). Linear in the graph.
// Devices in order of ordinal; the CPU is among them. A node that has no kernel anywhere goes to
// the CPU with reason kNoKernel: only a run that needs it fails. `previous` (empty the first time;
// else by node id, entries without a device for nodes that are new) is the placement of before the
// passes: a node whose device string names an existing device that has a kernel for it stays there,
// with its earlier reasons if its op is still the same; the others are decided. INVALID_ARGUMENT
// names node, op, request and group; UNIMPLEMENTED a node without a kernel for the default device
// or a rule's that must be met.
absl::StatusOr<std::vector<NodePlacement>> Place(const Graph& graph,
                                                 absl::Span<Device* const> devices,
                                                 const KernelRegistry& kernels,
                                                 const PlacerOptions& options,
                                                 absl::Span<const NodePlacement> previous = {});

// Writes full device names into the graph; with `keeps_unavailable`, nodes that ask for what is not
// here keep what they ask for: what is written for others may run where that is.
void ApplyPlacement(Graph& graph, absl::Span<const NodePlacement> placement,
                    bool keeps_unavailable = false);

}  // namespace tenon
