#include "plugin/kernels/device_memory.h"

namespace tenon {

Device* DeviceOf(const RunState& state) {
  const auto* on_device = dynamic_cast<const RunStateOnDevice*>(&state);
  return on_device == nullptr ? nullptr : on_device->device();
}

}  // namespace tenon
