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
// The device in whose memory the kernel's tensors lie. Null: they lie in host memory; so it is for
// each RunState that is no RunStateOnDevice. Tensors of handles (resources and references) lie in
// host memory in either case.
Device* DeviceOf(const RunState& state);

}  // namespace tenon
