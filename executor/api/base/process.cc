#include "executor/api/base/process.h"

#include "graph/base/status_macros.h"
#include "plugin/host/loading/loader.h"

namespace tenon::api {

absl::StatusOr<std::vector<Device*>> ProcessDevices() {
  // Never destroyed: a program may leave sessions behind when it ends.
  static Device* const cpu = MakeCpuDevice().release();
  TENON_ASSIGN_OR_RETURN(const std::vector<Device*> others, PluginDevices());
  std::vector<Device*> devices = {cpu};
  devices.insert(devices.end(), others.begin(), others.end());
  return devices;
}

}  // namespace tenon::api
