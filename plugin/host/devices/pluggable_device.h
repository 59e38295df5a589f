// A device of a plug-in: the Device interface over the plug-in's SP_StreamExecutor. The host calls
// the plug-in as TensorFlow does, but a fault that makes TensorFlow abort, or wait for an event
// without end, is a status here. Callbacks of the plug-in that do not return have no time limit.
//
// Memory: with `use_bfc_allocator` BfcAllocator divides regions. Without it each tensor is one
// `allocate`; its `deallocate` comes later, at the earliest when the compute stream has passed the
// point at which the last reference went. Events are pooled: an event is recorded again only after
// it was seen complete. Callbacks that queue work on a stream or ask for its status are serialised
// per stream, as the C header promises plug-ins. Callbacks that block the host until work is done
// are not serialised, nor are the kernels that use the compute stream.
//
// Host memory: large copies to the device go by way of blocks that the plug-in's
// host_memory_allocate gave, where that is faster (host_staging.h). AllocateHost gives such memory
// for large copies to the host. A device takes at most 1 GiB so, and at most an eighth of the
// machine's memory. In strict mode it takes none: there every copy's own memory is watched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"
#include "plugin/host/devices/stream_executor.h"

namespace tenon {

// Creates all devices of a platform: calls create_device for each, then makes memory, facts and
// four streams of each. Their ordinals begin at `first_ordinal`. Returns an empty list if the
// platform's DeviceCount is 0, and warns unless the plug-in itself answered 0. On a failure
// destroys what was created; the error has the plug-in's text, path and callback.
absl::StatusOr<std::vector<std::unique_ptr<Device>>> CreatePluggableDevices(
    std::shared_ptr<StreamExecutorPlatform> platform, int first_ordinal);

// The plug-in's own description of a device; a string is empty, a number negative, where the
// plug-in states nothing.
struct DeviceFacts {
  std::string hardware_name, vendor, pci_bus_id;
  int32_t numa_node = -1;
  int64_t memory_bandwidth = -1;  // bytes per second
};
// Null for a device that is not a plug-in's. Valid as long as the device.
const DeviceFacts* FactsOf(const Device& device);

// How a device's large copies to and from the host went so far. Those of the pool's memory, which
// the plug-in's host_memory_allocate gave, need no detour.
struct HostStagingFacts {
  std::string mode;  // copies to the device by way of the pool: "on", "off", "undecided"
  std::string why;
  int64_t regions = 0;     // that host_memory_allocate gave
  int64_t pool_bytes = 0;  // of these
  // Copies to the device: by way of the pool, from memory of the pool, from other memory.
  int64_t staged = 0, straight = 0, unstaged = 0;
  // Values copied to the host: into memory of the pool, into other memory since the pool had none.
  int64_t pool_targets = 0, other_targets = 0;
};
// nullopt for a device that is not a plug-in's.
std::optional<HostStagingFacts> HostStagingOf(const Device& device);

}  // namespace tenon
