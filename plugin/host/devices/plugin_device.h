// What a plug-in's create_device made, for as long as somebody uses it: the device of the host, and
// host memory of the device that tensors still have. Private to plugin/host/devices/.
#pragma once

#include <memory>
#include <string>

#include "graph/c_api/callback_scope.h"
#include "plugin/host/devices/stream_executor.h"

namespace tenon {

struct PluginDevice {
  PluginDevice() = default;
  PluginDevice(const PluginDevice&) = delete;
  PluginDevice& operator=(const PluginDevice&) = delete;
  // Calls destroy_device if create_device has succeeded. Warns of errors.
  ~PluginDevice() {
    if (!created) return;
    WarnOf(CallPlugin(platform->plugin().c_str(), "destroy_device", "", [this] {
      platform->platform_fns().destroy_device(platform->platform(), &device);
    }));
  }

  std::shared_ptr<StreamExecutorPlatform> platform;
  SP_Device device{};
  std::string name;  // "/device:APU:0", for messages
  bool created = false;
};

}  // namespace tenon
