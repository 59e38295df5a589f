// In which memory tensors lie for a built-in kernel of whole tensors that serves a node on another
// device than the host (OtherDevices::kInPlace).
#pragma once

#include "plugin/device/device.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

// What such a kernel runs with.
class RunStateOnDevice : public RunState {
 public:
  virtual Device* device() const = 0;
};
// In whose memory the tensors lie. Null: the host's.
Device* DeviceOf(const RunState& state);

}  // namespace tenon
