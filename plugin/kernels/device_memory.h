// Tells a built-in kernel of whole tensors in which memory its tensors lie. Such a kernel may serve
// a node on another device than the host (OtherDevices::kInPlace).
#pragma once

#include "plugin/device/device.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {

// The RunState of such a kernel on a device other than the host.
class RunStateOnDevice : public RunState {
 public:
  virtual Device* device() const = 0;  // not owned
};
// The device with the memory in which the kernel's tensors lie; null: the host.
Device* DeviceOf(const RunState& state);

}  // namespace tenon
