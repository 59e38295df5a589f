// Brings inputs of ops into the memory where kernels want them. Private to
// executor/api/eager/execute/.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/tensor_handle.h"
#include "plugin/device/device.h"

namespace tenon::eager {

// The memory that the kernel of an op wants an input in. A null device is the host.
struct WantedInput {
  std::string_view op;  // the name of the op, for messages
  size_t index;         // of the input
  Device* device;       // of the op
  Device* memory;       // the device in whose memory the kernel wants the input
};

// The value of the input in the wanted memory: the handle's own tensor, or a copy. The handle must
// have its value, and not be on a custom device. A result in host memory is aligned as kernels want
// it. Strings, resources and variants stay in host memory, whatever memory is wanted.
// INVALID_ARGUMENT, with TensorFlow's message, if `policy` forbids the copy between devices. With
// TFE_DEVICE_PLACEMENT_WARN the first copy of an input of an op between two devices writes a
// warning to stderr (WarnOf). Other errors are those of CopyAcross and Tensor::Copy.
absl::StatusOr<Tensor> BringInput(TFE_TensorHandle& input, const WantedInput& wanted,
                                  TFE_ContextDevicePlacementPolicy policy);

}  // namespace tenon::eager
