#include "executor/api/eager/custom_device.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"

namespace tenon::eager {
namespace {

absl::StatusOr<TFE_TensorHandle*> ResultOf(TFE_TensorHandle* handle, const CStatus& status,
                                           std::string_view callback) {
  TENON_RETURN_IF_ERROR(status.ToStatus());
  if (handle != nullptr) return handle;
  return absl::InternalError(
      absl::StrCat(callback, " of a custom device gave neither a handle nor an error"));
}

}  // namespace

CustomDevice::~CustomDevice() {
  if (fns_.delete_device != nullptr) fns_.delete_device(info_);
}

absl::Status CustomDevice::Check(const char* name) {
  if (fns_.version != TFE_CUSTOM_DEVICE_VERSION)
    return absl::InvalidArgumentError(
        absl::StrCat("a custom device of version ", fns_.version, " is not known"));
  if (fns_.copy_tensor_to_device == nullptr || fns_.copy_tensor_from_device == nullptr ||
      fns_.execute == nullptr || fns_.delete_device == nullptr)
    return absl::InvalidArgumentError("a custom device lacks a function that must be set");
  const std::string text = name == nullptr ? "" : name;
  const absl::StatusOr<DeviceRequest> request = ParseDeviceRequest(text);
  const bool full = request.ok() && !request->job.empty() && request->replica >= 0 &&
                    request->task >= 0 && !request->type.empty() && request->ordinal >= 0;
  if (!full) {
    return absl::InvalidArgumentError(absl::StrCat(
        text,
        " could not be parsed as a device name. Use the full "
        "/job:<name>/replica:<replica>/task:<task>/device:<type>:<device_num> format."));
  }
  name_ = text;
  type_ = request->type;
  ordinal_ = request->ordinal;
  return absl::OkStatus();
}

// A program may name its device after a task that is not this process. Only the full name asks for
// such a device.
bool CustomDevice::Fits(const DeviceName& name) const {
  const DeviceRequest& r = name.request;
  return r.type == type_ && (r.ordinal < 0 || r.ordinal == ordinal_) &&
         (name.text == name_ || IsThisTask(r));
}

absl::StatusOr<TFE_TensorHandle*> CustomDevice::CopyTo(TFE_Context* context,
                                                       TFE_TensorHandle* handle) const {
  CStatus status;
  TFE_TensorHandle* const copy = fns_.copy_tensor_to_device(context, handle, status.get(), info_);
  return ResultOf(copy, status, "copy_tensor_to_device");
}

absl::StatusOr<TFE_TensorHandle*> CustomDevice::CopyFrom(TFE_Context* context,
                                                         TFE_TensorHandle* handle,
                                                         const std::string& target) const {
  CStatus status;
  TFE_TensorHandle* const copy =
      fns_.copy_tensor_from_device(context, handle, target.c_str(), status.get(), info_);
  return ResultOf(copy, status, "copy_tensor_from_device");
}

// The callback gets a copy of the number, since a callback that fails may have written anything.
absl::Status CustomDevice::Execute(const TFE_Op* op, TFE_TensorHandle** results,
                                   int* num_results) const {
  CStatus status;
  int count = *num_results;
  fns_.execute(op, &count, results, status.get(), info_);
  TENON_RETURN_IF_ERROR(status.ToStatus());
  *num_results = count;
  return absl::OkStatus();
}

absl::StatusOr<TFE_TensorHandle*> CustomDevice::Pack(TFE_Context* context,
                                                     TFE_TensorHandle** handles,
                                                     int num_handles) const {
  if (fns_.pack == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("This custom device (", name_, ") does not support packing tensors."));
  }
  CStatus status;
  TFE_TensorHandle* const packed = fns_.pack(context, handles, num_handles, status.get(), info_);
  return ResultOf(packed, status, "pack");
}

absl::StatusOr<bool> CustomDevice::Wants(const TFE_Op* op) const {
  if (fns_.shall_pin_to_this_device == nullptr)
    return absl::UnimplementedError("the device leaves it to the op where it is executed");
  CStatus status;
  const bool wants = fns_.shall_pin_to_this_device(op, status.get());
  TENON_RETURN_IF_ERROR(status.ToStatus());
  return wants;
}

CustomTensor::~CustomTensor() {
  if (methods_.deallocator != nullptr) methods_.deallocator(data_);
}

absl::StatusOr<int> CustomTensor::NumDims() const {
  CStatus status;
  const int rank = methods_.num_dims(data_, status.get());
  TENON_RETURN_IF_ERROR(status.ToStatus());
  return rank;
}

absl::StatusOr<int64_t> CustomTensor::Dim(int i) const {
  CStatus status;
  const int64_t dim = methods_.dim(data_, i, status.get());
  TENON_RETURN_IF_ERROR(status.ToStatus());
  return dim;
}

absl::StatusOr<int64_t> CustomTensor::NumElements() const {
  TENON_ASSIGN_OR_RETURN(const int rank, NumDims());
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    TENON_ASSIGN_OR_RETURN(const int64_t dim, Dim(i));
    if (dim < 0 || (dim > 0 && count > std::numeric_limits<int64_t>::max() / dim))
      return absl::InvalidArgumentError("the dimensions of a custom tensor are no shape");
    count *= dim;
  }
  return count;
}

absl::Status CustomDevices::Add(DevicePtr device) {
  absl::MutexLock lock(&mutex_);
  for (const DevicePtr& known : devices_) {
    if (known->name() == device->name())
      return absl::AlreadyExistsError(
          absl::StrCat(device->name(), " already registered as a custom device."));
  }
  devices_.push_back(std::move(device));
  empty_.store(false, std::memory_order_release);
  return absl::OkStatus();
}

CustomDevices::DevicePtr CustomDevices::Find(std::string_view name) const {
  absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const DevicePtr& device) { return device->name() == name; });
  return found == devices_.end() ? nullptr : *found;
}

CustomDevices::DevicePtr CustomDevices::Find(const DeviceName& name) const {
  absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const DevicePtr& device) { return device->Fits(name); });
  return found == devices_.end() ? nullptr : *found;
}

}  // namespace tenon::eager
