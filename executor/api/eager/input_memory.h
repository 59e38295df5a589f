// Brings inputs of ops into the memory where kernels want them. Private to executor/api/eager/.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/tensor_handle.h"
#include "plugin/device/device.h"

namespace tenon::eager {

// An input of an op on `device`. Null devices are the host.
struct WantedInput {
  std::string_view op;
  size_t index;
  Device* device;  // of the op
  Device* memory;  // where the kernel wants the input
};

// The value of the input in the wanted memory, on the host aligned: the handle's own, or a copy.
// INVALID_ARGUMENT, with TensorFlow's words, if the policy forbids the copy; WARN writes to stderr.
// Strings, resources and variants stay on the host. Other errors are those of CopyAcross.
absl::StatusOr<Tensor> BringInput(TFE_TensorHandle& input, const WantedInput& wanted,
                                  TFE_ContextDevicePlacementPolicy policy);

}  // namespace tenon::eager
