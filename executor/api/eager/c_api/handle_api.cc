// The functions of eager/c_api.h on tensor handles.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/base/arguments.h"
#include "executor/api/eager/c_api/report.h"
#include "executor/api/eager/context.h"
#include "executor/api/eager/tensor_handle.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/tensor_handles.h"
#include "graph/c_api/without_memory.h"
#include "plugin/device/device_copy.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {
namespace {

// The handle is there, and so is its value.
absl::Status Ready(TFE_TensorHandle* h) {
  TENON_RETURN_IF_ERROR(CheckHandle(h));
  return h->Await();
}

// A copy that lives as long as the process: a name must outlive the devices of a context.
const char* Kept(std::string text) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto& texts = *new std::set<std::string>;
  absl::MutexLock lock(&mutex);
  return texts.insert(std::move(text)).first->c_str();
}

const char* FullName(const Device* device) {
  if (device == nullptr) return "/job:localhost/replica:0/task:0/device:CPU:0";
  return Kept(device->full_name());
}

absl::StatusOr<TFE_TensorHandle*> CopyTo(TFE_TensorHandle& handle, TFE_Context* shell,
                                         const char* name) {
  TENON_ASSIGN_OR_RETURN(Context* const context, ContextOf(shell));
  const CustomDevices& customs = context->custom_devices();
  const auto custom = name == nullptr || customs.empty() ? nullptr : customs.Find(name);
  if (custom != nullptr) return custom->CopyTo(shell, &handle);
  TENON_ASSIGN_OR_RETURN(Device* const to, context->DeviceOfName(name));
  if (handle.custom != nullptr)
    return handle.custom->device().CopyFrom(shell, &handle, FullName(to));
  TENON_ASSIGN_OR_RETURN(Tensor value, CopyAcross(handle.tensor, handle.memory, to));
  return TFE_TensorHandle::New(std::move(value), to, to);
}

}  // namespace
}  // namespace tenon::eager

struct TFE_TensorDebugInfo {
  using Pool = tenon::Handles<TFE_TensorDebugInfo>;
  tenon::Shape shape;
};

using tenon::StatusToC;
using tenon::eager::CheckHandle;
using tenon::eager::FullName;
using tenon::eager::Kept;
using tenon::eager::Ready;
using tenon::eager::Report;

extern "C" {

TFE_TensorHandle* TFE_NewTensorHandle(const TF_Tensor* t, TF_Status* status) try {
  tenon::ClearStatus(status);
  if (t == nullptr || t->buffer == nullptr) {
    const bool deleted = t != nullptr && t->is_deleted();
    StatusToC(
        absl::InvalidArgumentError(deleted ? "Invalid tensor: it is deleted" : "Invalid tensor"),
        status);
    return nullptr;
  }
  return TFE_TensorHandle::New(t->value(), nullptr, nullptr);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_TensorHandle* TFE_NewTensorHandleFromScalar(TF_DataType data_type, void* data, size_t len,
                                                TF_Status* status) try {
  if (!tenon::api::AllGiven({{"data", data}}, status)) return nullptr;
  const auto type = static_cast<tenon::DataType>(data_type);
  if (len == 0 || !tenon::IsMemcpyable(type) || len != tenon::DataTypeSize(type)) {
    StatusToC(absl::InvalidArgumentError(
                  absl::StrCat(len, " bytes are no scalar of type ", tenon::DataTypeName(type))),
              status);
    return nullptr;
  }
  return TFE_TensorHandle::New(tenon::Tensor::CopyOf(type, {}, data, len), nullptr, nullptr);
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_DeleteTensorHandle(TFE_TensorHandle* h) {
  if (h == nullptr) return;
  if (!h->owned.load(std::memory_order_relaxed)) {
    return tenon::TellOfDeleted("TFE_DeleteTensorHandle");
  }
  h->owned.store(false, std::memory_order_relaxed);
  h->Unref();
}

TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h) {
  return tenon::IsThere(h) ? tenon::DataTypeToC(h->dtype) : static_cast<TF_DataType>(0);
}

int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status) try {
  if (!Report(Ready(h), status)) return -1;
  return h->custom == nullptr ? h->tensor.shape().rank() : Report(h->custom->NumDims(), -1, status);
} catch (...) {
  tenon::WithoutMemory(status);
  return -1;
}

int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status) try {
  if (!Report(Ready(h), status)) return -1;
  return h->custom == nullptr ? h->tensor.num_elements()
                              : Report<int64_t>(h->custom->NumElements(), -1, status);
} catch (...) {
  tenon::WithoutMemory(status);
  return -1;
}

int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int dim_index, TF_Status* status) try {
  if (!Report(Ready(h), status)) return -1;
  if (h->custom != nullptr) return Report<int64_t>(h->custom->Dim(dim_index), -1, status);
  const tenon::Shape& shape = h->tensor.shape();
  if (dim_index >= 0 && dim_index < shape.rank()) return shape.dim(dim_index);
  StatusToC(absl::InvalidArgumentError(absl::StrCat("there is no dimension ", dim_index,
                                                    " in a tensor of rank ", shape.rank())),
            status);
  return -1;
} catch (...) {
  tenon::WithoutMemory(status);
  return -1;
}

const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h, TF_Status* status) try {
  if (!Report(CheckHandle(h), status)) return nullptr;
  return h->custom == nullptr ? FullName(h->device) : Kept(h->custom->device().name());
} catch (...) {
  return tenon::WithoutMemory(status);
}

const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h, TF_Status* status) try {
  if (!Report(CheckHandle(h), status)) return nullptr;
  if (h->custom != nullptr) return Kept(h->custom->device().name());
  return FullName(h->Await().ok() ? h->memory : h->device);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h, TF_Status* status) try {
  if (!Report(Ready(h), status)) return nullptr;
  TFE_TensorHandle* const copy = TFE_TensorHandle::New(h->tensor, h->memory, h->device);
  copy->dtype = h->dtype;
  copy->custom = h->custom;
  return copy;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status) try {
  if (!Report(Ready(h), status)) return nullptr;
  absl::StatusOr<tenon::Tensor> value = tenon::eager::ValueOnHost(*h);
  if (!Report(value.status(), status)) return nullptr;
  return tenon::NewTensorHandle(*std::move(value));
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h, TFE_Context* ctx,
                                               const char* device_name, TF_Status* status) try {
  if (!Report(Ready(h), status)) return nullptr;
  return Report(tenon::eager::CopyTo(*h, ctx, device_name), nullptr, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_TensorDebugInfo* TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle* h, TF_Status* status) try {
  absl::Status ready = Ready(h);
  if (ready.ok() && h->custom != nullptr)
    ready = absl::UnimplementedError("a custom device does not tell the layout of its tensors");
  return Report(ready, status) ? TFE_TensorDebugInfo::Pool::New(h->tensor.shape()) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo* debug_info) { tenon::DeleteHandle(debug_info); }

int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo* debug_info) {
  return tenon::IsThere(debug_info) ? debug_info->shape.rank() : -1;
}

int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo* debug_info, int dim_index) {
  const bool valid =
      tenon::IsThere(debug_info) && dim_index >= 0 && dim_index < debug_info->shape.rank();
  return valid ? debug_info->shape.dim(dim_index) : -1;
}

const char* TFE_TensorHandleDeviceType(TFE_TensorHandle* h, TF_Status* status) try {
  if (!Report(CheckHandle(h), status)) return nullptr;
  if (h->custom != nullptr) return Kept(h->custom->device().type());
  return h->device == nullptr ? "CPU" : Kept(std::string(h->device->type()));
} catch (...) {
  return tenon::WithoutMemory(status);
}

int TFE_TensorHandleDeviceID(TFE_TensorHandle* h, TF_Status* status) try {
  if (!Report(CheckHandle(h), status)) return -1;
  if (h->custom != nullptr) return h->custom->device().ordinal();
  return h->device == nullptr ? 0 : h->device->ordinal();
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_TensorHandleGetStatus(TFE_TensorHandle* h, TF_Status* status) try {
  absl::Status result = CheckHandle(h);
  if (result.ok() && h->pending != nullptr && h->pending->ended()) result = h->pending->Wait();
  StatusToC(result, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
