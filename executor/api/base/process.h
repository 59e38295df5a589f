// What all sessions and contexts of this process share. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"

namespace tenon {
class Workers;  // plugin/cpu/base/workers.h
}

namespace tenon::api {

// The CPU, then the devices of all plug-ins that are loaded now; creates those of newly loaded
// plug-ins. `most` has, by device type, the most devices to return: none if it is not positive, all
// for a type that is not there. For "CPU" it is the number of devices that the CPU is to be, of one
// by default; a plug-in's "CPU" devices of these ordinals are left out. The pointers stay valid
// until the plug-in is unloaded; those of the CPU are never destroyed. NOT_FOUND if `most` leaves
// no CPU, INVALID_ARGUMENT for more than 1,024 of them; other errors are those of PluginDevices.
absl::StatusOr<std::vector<Device*>> ProcessDevices(const std::map<std::string, int>& most = {});

// CPU threads for all who want this number of them; 0 or less: as many as the machine has. They
// last as long as somebody has them, and at least until somebody wants another number.
std::shared_ptr<Workers> ProcessWorkers(int threads);

}  // namespace tenon::api
