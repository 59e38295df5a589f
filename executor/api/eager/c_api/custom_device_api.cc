// The functions of eager/c_api_experimental.h on custom devices.
#include <memory>
#include <new>

#include "absl/strings/str_cat.h"
#include "executor/api/eager/c_api/report.h"
#include "executor/api/eager/context.h"
#include "executor/api/eager/custom_device.h"
#include "executor/api/eager/tensor_handle.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {
namespace {

absl::Status Register(TFE_Context* shell, std::shared_ptr<CustomDevice> device, const char* name) {
  TENON_ASSIGN_OR_RETURN(Context* const context, ContextOf(shell));
  // TensorFlow takes the empty name for the host's.
  if (name != nullptr && *name == '\0')
    return absl::AlreadyExistsError(" already registered as a physical device.");
  TENON_RETURN_IF_ERROR(device->Check(name));
  for (const Device* physical : context->devices()) {
    if (physical->full_name() == device->name())
      return absl::AlreadyExistsError(
          absl::StrCat(device->name(), " already registered as a physical device."));
  }
  return context->custom_devices().Add(std::move(device));
}

absl::StatusOr<TFE_TensorHandle*> NewHandle(TFE_Context* shell, const char* device_name,
                                            TF_DataType dtype, void* data,
                                            const TFE_CustomDeviceTensorHandle& methods) {
  // The tensor owns the data from here on, also after an error.
  const auto find = [&]() -> absl::StatusOr<CustomDevices::DevicePtr> {
    TENON_ASSIGN_OR_RETURN(Context* const context, ContextOf(shell));
    CustomDevices::DevicePtr device =
        context->custom_devices().Find(device_name == nullptr ? "" : device_name);
    if (device != nullptr) return device;
    return absl::InvalidArgumentError(
        absl::StrCat(device_name == nullptr ? "" : device_name, " unknown device."));
  };
  const absl::StatusOr<CustomDevices::DevicePtr> device = find();
  std::unique_ptr<CustomTensor> tensor;
  try {
    tensor = std::make_unique<CustomTensor>(shell, device.ok() ? *device : nullptr, data, methods);
  } catch (const std::bad_alloc&) {
    if (methods.deallocator != nullptr) methods.deallocator(data);
    throw;
  }
  TENON_RETURN_IF_ERROR(device.status());
  if (methods.num_dims == nullptr || methods.dim == nullptr || methods.deallocator == nullptr)
    return absl::InvalidArgumentError("a custom tensor lacks a function that must be set");
  TFE_TensorHandle* const handle = TFE_TensorHandle::New(Tensor(), nullptr, nullptr);
  handle->dtype = DataTypeFromC(dtype);
  handle->custom = std::move(tensor);
  return handle;
}

absl::StatusOr<TFE_TensorHandle*> Pack(TFE_Context* shell, TFE_TensorHandle** handles,
                                       const int* num_handles) {
  TENON_RETURN_IF_ERROR(ContextOf(shell).status());
  if (num_handles == nullptr || *num_handles < 1 || handles == nullptr)
    return absl::InvalidArgumentError("there is no handle to pack");
  for (int i = 0; i < *num_handles; ++i) TENON_RETURN_IF_ERROR(CheckHandle(handles[i]));
  for (int i = 0; i < *num_handles; ++i) {
    if (handles[i]->custom != nullptr)
      return handles[i]->custom->device().Pack(shell, handles, *num_handles);
  }
  return absl::UnimplementedError(
      "packed handles stand for several devices that act as one, which Tenon does not have");
}

}  // namespace
}  // namespace tenon::eager

using tenon::StatusToC;

extern "C" {

void TFE_RegisterCustomDevice(TFE_Context* ctx, TFE_CustomDevice device, const char* device_name,
                              void* device_info, TF_Status* status) try {
  auto custom = std::make_shared<tenon::eager::CustomDevice>(device, device_info);
  StatusToC(tenon::eager::Register(ctx, std::move(custom), device_name), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

bool TFE_IsCustomDevice(TFE_Context* ctx, const char* device_name) try {
  tenon::eager::Context* const context = tenon::eager::ContextIfThere(ctx);
  return context != nullptr && device_name != nullptr &&
         context->custom_devices().Find(device_name) != nullptr;
} catch (...) {
  return tenon::WithoutMemory();
}

TFE_TensorHandle* TFE_NewCustomDeviceTensorHandle(TFE_Context* ctx, const char* device_name,
                                                  TF_DataType dtype, void* data,
                                                  TFE_CustomDeviceTensorHandle methods,
                                                  TF_Status* status) try {
  return tenon::eager::Report(tenon::eager::NewHandle(ctx, device_name, dtype, data, methods),
                              nullptr, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_TensorHandle* TFE_CreatePackedTensorHandle(TFE_Context* ctx, TFE_TensorHandle** handles,
                                               int* num_handles, TF_Status* status) try {
  return tenon::eager::Report(tenon::eager::Pack(ctx, handles, num_handles), nullptr, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
