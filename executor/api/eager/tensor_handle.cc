#include "executor/api/eager/tensor_handle.h"

#include "executor/run/aligned.h"
#include "graph/base/status_macros.h"
#include "plugin/device/device_copy.h"

namespace tenon::eager {

void Pending::End(absl::Status status) {
  absl::MutexLock lock(&mutex_);
  status_ = std::move(status);
  ended_.store(true, std::memory_order_release);
}

absl::Status Pending::Wait() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &Pending::ended));
  return status_;
}

absl::Status CheckHandle(const TFE_TensorHandle* handle) {
  if (handle == nullptr) return absl::InvalidArgumentError("Invalid handle");
  if (!handle->alive()) return absl::InvalidArgumentError("Invalid handle: it is deleted");
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ValueOnHost(TFE_TensorHandle& handle) {
  TENON_RETURN_IF_ERROR(handle.Await());
  if (handle.custom != nullptr) {
    const CustomTensor& custom = *handle.custom;
    TENON_ASSIGN_OR_RETURN(
        TFE_TensorHandle* const copy,
        custom.device().CopyFrom(custom.context(), &handle,
                                 "/job:localhost/replica:0/task:0/device:CPU:0"));
    absl::StatusOr<Tensor> value = absl::InternalError("a custom device copied to itself");
    if (copy->custom == nullptr) value = ValueOnHost(*copy);
    TFE_DeleteTensorHandle(copy);
    return value;
  }
  if (handle.memory != nullptr) return CopyAcross(handle.tensor, handle.memory, nullptr);
  return Aligned(handle.tensor);
}

}  // namespace tenon::eager

TFE_TensorHandle* TFE_TensorHandle::New(tenon::Tensor value, tenon::Device* memory,
                                        tenon::Device* device) {
  TFE_TensorHandle* const handle = tenon::HandlePool<TFE_TensorHandle>::Take();
  handle->dtype = value.dtype();
  handle->tensor = std::move(value);
  handle->memory = memory;
  handle->device = device;
  handle->owned.store(true, std::memory_order_relaxed);
  handle->refs.store(1, std::memory_order_release);
  return handle;
}

TFE_TensorHandle* TFE_TensorHandle::NewPending(tenon::DataType dtype, tenon::Device* device,
                                               tenon::eager::Pending* pending) {
  TFE_TensorHandle* const handle = New(tenon::Tensor(), nullptr, device);
  handle->dtype = dtype;
  pending->Ref();
  handle->pending = pending;
  return handle;
}

void TFE_TensorHandle::End() {
  refs.store(0, std::memory_order_relaxed);
  tensor.Clear();
  custom = nullptr;
  if (pending != nullptr) std::exchange(pending, nullptr)->Unref();
  tenon::HandlePool<TFE_TensorHandle>::Give(this);
}
