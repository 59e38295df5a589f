// A device of a plug-in: the Device interface over its SP_StreamExecutor, driven as TensorFlow
// drives it, except that what makes TensorFlow abort or hang is a status here.
//
// Memory: with `use_bfc_allocator` regions divided by BfcAllocator, else one `allocate` per tensor,
// given back only after the compute stream has passed the point where its last reference went.
// Events are pooled: one is recorded again only after it was seen complete. Calls that touch a
// stream are serialised per stream, as the C header promises plug-ins.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"
#include "plugin/host/devices/stream_executor.h"

namespace tenon {

// Creates all devices of a platform: every create_device first, then memory, facts and four streams
// of each. `ordinal` numbers them from `first_ordinal` on. None when the platform counts none. A
// failure destroys what was created and is returned with the plug-in's text, its callback and its
// path.
absl::StatusOr<std::vector<std::unique_ptr<Device>>> CreatePluggableDevices(
    std::shared_ptr<StreamExecutorPlatform> platform, int first_ordinal);

// What the plug-in says about a device; empty or negative where it says nothing.
struct DeviceFacts {
  std::string hardware_name, vendor, pci_bus_id;
  int32_t numa_node = -1;
  int64_t memory_bandwidth = -1;  // bytes per second
};
// Null for a device that is not a plug-in's.
const DeviceFacts* FactsOf(const Device& device);

}  // namespace tenon
