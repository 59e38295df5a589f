// A device of a plug-in: the Device interface over the plug-in's SP_StreamExecutor. The host calls
// the plug-in as TensorFlow does, but a fault that makes TensorFlow abort or hang is a status here.
//
// Memory: with `use_bfc_allocator` BfcAllocator divides regions. Without it each tensor is one
// `allocate`; its `deallocate` waits until the compute stream has passed the point at which the
// last reference went. Events are pooled: an event is recorded again only after it was seen
// complete. Calls that touch a stream are serialised per stream, as the C header promises plug-ins.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"
#include "plugin/host/devices/stream_executor.h"

namespace tenon {

// Creates all devices of a platform: calls create_device for each, then makes memory, facts and
// four streams of each. Their ordinals begin at `first_ordinal`. Returns an empty list, and warns,
// if the platform counts no device. On a failure destroys what was created; the error has the
// plug-in's text, path and callback.
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

}  // namespace tenon
