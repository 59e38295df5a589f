// What all sessions and contexts of this process share. Thread-safe.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"

namespace tenon::api {

// The CPU, then the devices of all plug-ins that are loaded now; creates those of newly loaded
// plug-ins. The pointers stay valid until the plug-in is unloaded; the CPU is never destroyed.
// Errors are those of PluginDevices.
absl::StatusOr<std::vector<Device*>> ProcessDevices();

}  // namespace tenon::api
