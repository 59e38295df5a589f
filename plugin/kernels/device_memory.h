// Tells a built-in kernel of whole tensors in which memory its tensors lie. Such a kernel may serve
// a node on another device than the host (OtherDevices::kInPlace).
#pragma once

#include "plugin/device/device.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {

// A RunState that knows the device of its kernel.
class RunStateOnDevice : public RunState {
 public:
  virtual Device* device() const = 0;  // not owned; null: the host
};
// The device with the memory in which the kernel's tensors lie, but for handles (resources and
// references), which are in host memory. Null: all are. Null too for a RunState that is no
// RunStateOnDevice.
Device* DeviceOf(const RunState& state);

}  // namespace tenon
