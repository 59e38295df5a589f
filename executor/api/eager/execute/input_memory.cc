#include "executor/api/eager/execute/input_memory.h"

#include "absl/strings/str_cat.h"
#include "executor/run/aligned.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "plugin/device/device_copy.h"

namespace tenon::eager {
namespace {

std::string NameOf(const Device* device) {
  return device == nullptr ? "/job:localhost/replica:0/task:0/device:CPU:0" : device->full_name();
}

absl::Status Conflict(const TFE_TensorHandle& input, const WantedInput& wanted) {
  return absl::InvalidArgumentError(absl::StrCat(
      "Tensors on conflicting devices: cannot compute ", wanted.op, " as input #", wanted.index,
      " was expected to be on ", NameOf(wanted.memory), " but is actually on ",
      NameOf(input.memory), " (operation running on ", NameOf(wanted.device),
      ") Tensors can be copied explicitly using: `with tf.device(device_name): x = tf.identity(x)` "
      "or transparently copied by using tf.config.experimental.set_device_policy('silent'). "
      "Copying "
      "tensors between devices may slow down your model"));
}

absl::Status CheckMayCopy(const TFE_TensorHandle& input, const WantedInput& wanted,
                          TFE_ContextDevicePlacementPolicy policy) {
  switch (policy) {
    case TFE_DEVICE_PLACEMENT_EXPLICIT:
      return Conflict(input, wanted);
    case TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32:
      return input.dtype == DataType::kInt32 ? absl::OkStatus() : Conflict(input, wanted);
    case TFE_DEVICE_PLACEMENT_WARN:
      WarnOf(absl::FailedPreconditionError(
          absl::StrCat("before computing ", wanted.op, " input #", wanted.index, " is copied from ",
                       NameOf(input.memory), " to ", NameOf(wanted.memory),
                       "; such copies may slow the program down")));
      break;
    case TFE_DEVICE_PLACEMENT_SILENT:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> BringInput(TFE_TensorHandle& input, const WantedInput& wanted,
                                  TFE_ContextDevicePlacementPolicy policy) {
  if (input.memory == wanted.memory || !IsMemcpyable(input.dtype)) {
    if (input.memory != nullptr || IsAligned(input.tensor)) return input.tensor;
    return input.tensor.Copy();
  }
  TENON_RETURN_IF_ERROR(CheckMayCopy(input, wanted, policy));
  return CopyAcross(input.tensor, input.memory, wanted.memory);
}

}  // namespace tenon::eager
