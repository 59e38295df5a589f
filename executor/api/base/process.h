// The devices and CPU threads that the sessions and contexts of this process share. Thread-safe.
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

// Returns the host's CPU devices, then the devices of all plug-ins that are loaded now. Creates the
// devices of a plug-in that was loaded since the last call. `most` says by device type how many
// devices of all plug-ins together to return at most. A number below 1 means none. A type without
// an entry has no limit. The entry "CPU" is also the exact number of the host's CPU devices, which
// come on top; without an entry there is one. Devices of plug-ins with the type "CPU" and an
// ordinal below the number of the host's are left out.
// A CPU device of the host is never destroyed. A device of a plug-in lives until the plug-in is
// unloaded. NOT_FOUND if the entry "CPU" is below 1, INVALID_ARGUMENT if it is above 1,024; other
// errors are those of PluginDevices.
absl::StatusOr<std::vector<Device*>> ProcessDevices(const std::map<std::string, int>& most = {});

// The CPU threads that all callers with this number share. 0 or less: as many as DefaultThreads()
// says (usable_cores.h), which counts the cores that the process may use, not the machine's. The
// threads live as long as a caller holds the result. The process itself holds the threads of the
// last call.
std::shared_ptr<Workers> ProcessWorkers(int threads);

}  // namespace tenon::api
