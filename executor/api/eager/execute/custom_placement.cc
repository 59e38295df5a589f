#include "executor/api/eager/execute/custom_placement.h"

#include "absl/strings/str_cat.h"
#include "executor/api/eager/custom_device.h"
#include "graph/base/status_macros.h"

namespace tenon::eager {
namespace {

// The custom device of the inputs; null if all are on physical devices.
absl::StatusOr<const CustomDevice*> DeviceOfInputs(const TFE_Op& op) {
  const CustomDevice* device = nullptr;
  for (const TFE_TensorHandle* const input : op.inputs) {
    if (input->custom == nullptr) continue;
    const CustomDevice* const other = &input->custom->device();
    if (device != nullptr && device != other) {
      return absl::InvalidArgumentError(absl::StrCat(
          "If an operation has one of its inputs in a custom device, then all inputs should be on "
          "that same custom device or another physical device. Operation ",
          op.entry->def->name, " has one input in custom device ", device->name(),
          " and at least one input in a different custom device ", other->name()));
    }
    device = other;
  }
  return device;
}

// As in TensorFlow: the device of the inputs decides, if it has a function for that, even against
// what the op asks for. Else an op goes where its first resource is, else where it asks to be, else
// to the device of its inputs. Null for a physical device.
const CustomDevice* Choose(const TFE_Op& op, const CustomDevice* asked,
                           const CustomDevice* of_inputs) {
  if (of_inputs == nullptr) return asked;
  if (const absl::StatusOr<bool> wants = of_inputs->Wants(&op); wants.ok())
    return *wants ? of_inputs : asked;
  for (const TFE_TensorHandle* const input : op.inputs) {
    if (input->dtype == DataType::kResource) return input->custom != nullptr ? of_inputs : asked;
  }
  return op.device == nullptr ? of_inputs : asked;
}

absl::Status CopyInputsToPhysical(const Context& context, TFE_Op& op) {
  const std::string target =
      op.device == nullptr ? context.devices()[0]->full_name() : op.device->text;
  for (TFE_TensorHandle*& input : op.inputs) {
    if (input->custom == nullptr) continue;
    TENON_ASSIGN_OR_RETURN(TFE_TensorHandle * copy,
                           input->custom->device().CopyFrom(op.shell, input, target));
    // The op takes the caller's reference.
    copy->owned.store(false, std::memory_order_relaxed);
    std::swap(input, copy);
    copy->Unref();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> ExecuteOnCustomDevice(Context& context, TFE_Op& op, TFE_TensorHandle** results,
                                           int* num_results) {
  const CustomDevices::DevicePtr asked =
      op.device == nullptr ? nullptr : context.custom_devices().Find(*op.device);
  TENON_ASSIGN_OR_RETURN(const CustomDevice* const of_inputs, DeviceOfInputs(op));
  const CustomDevice* const device = Choose(op, asked.get(), of_inputs);
  if (device != nullptr) {
    TENON_RETURN_IF_ERROR(device->Execute(&op, results, num_results));
    return true;
  }
  if (of_inputs != nullptr) {
    TENON_RETURN_IF_ERROR(CopyInputsToPhysical(context, op));
  }
  return false;
}

}  // namespace tenon::eager
