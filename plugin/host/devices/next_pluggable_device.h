// Devices of a plug-in's NextPluggableDevice module. Their tensors are PJRT buffers, behind opaque
// memory (plugin/pjrt/opaque_memory.h); kernels are the plug-in's own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"
#include "plugin/host/devices/next_pluggable_platform.h"

namespace tenon {

// Makes the devices in TensorFlow's order of calls: count (for the list of devices), internal
// states, count. Their ordinals begin at `first_ordinal`. An empty list where the plug-in has no
// devices; `why`, which must not be null, then gets the reason, if there is one. Errors are those
// of InitDeviceStates.
absl::StatusOr<std::vector<std::unique_ptr<Device>>> CreateNextPluggableDevices(
    const std::shared_ptr<NextPluggablePlatform>& platform, int first_ordinal, std::string* why);

}  // namespace tenon
