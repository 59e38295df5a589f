// TFE_TensorHandle: a tensor in the memory of a device, or one that a queued op will make.
// Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "executor/api/eager/custom_device.h"
#include "executor/api/eager/pending.h"
#include "graph/c_api/handles.h"
#include "graph/tensor/tensor.h"
#include "plugin/device/device.h"
#include "tensorflow/c/eager/c_api.h"

// Counted by reference: the caller of the C interface has one until TFE_DeleteTensorHandle, each op
// that has the handle as an input has one. `dtype` and `device` are set by the maker of the
// handle. `tensor` and `memory` of a pending one are set by the executor before Pending::End: they
// are read after Await.
struct TFE_TensorHandle {
  // With the caller's reference. A null device is the host.
  static TFE_TensorHandle* New(tenon::Tensor value, tenon::Device* memory, tenon::Device* device);
  // A result of this type that comes later. Takes a reference to `pending`.
  static TFE_TensorHandle* NewPending(tenon::DataType dtype, tenon::Device* device,
                                      tenon::eager::Pending* pending);

  bool alive() const { return refs.load(std::memory_order_relaxed) > 0; }
  bool is_deleted() const { return !alive(); }
  void Ref() { refs.fetch_add(1, std::memory_order_relaxed); }
  // As in Buffer::Unref, the last holder needs no locked instruction.
  void Unref() {
    if (refs.load(std::memory_order_acquire) == 1 ||
        refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
      End();
  }
  // Whether only one op holds the handle, which its caller has deleted: the op may take the value.
  bool HasOneUser() const {
    return refs.load(std::memory_order_acquire) == 1 && !owned.load(std::memory_order_relaxed);
  }
  // Blocks until the value is there; returns the error of the op that failed to make it.
  absl::Status Await() { return pending == nullptr ? absl::OkStatus() : pending->Wait(); }

  std::atomic<int32_t> refs{0};    // 0: deleted
  std::atomic<bool> owned{false};  // by the caller of the C interface
  tenon::DataType dtype = tenon::DataType::kInvalid;
  tenon::Device* memory = nullptr;  // has the tensor; null: the host
  tenon::Device* device = nullptr;  // of the op that made the tensor; null: the host
  tenon::Tensor tensor;
  // On a custom device: then there is no `tensor`.
  std::shared_ptr<const tenon::eager::CustomTensor> custom;
  tenon::eager::Pending* pending = nullptr;  // null: the value was there from the beginning
  TFE_TensorHandle* next_idle = nullptr;     // of HandlePool

 private:
  void End();
};

namespace tenon::eager {

// INVALID_ARGUMENT for null and for a deleted handle.
absl::Status CheckHandle(const TFE_TensorHandle* handle);

// The tensor in host memory, aligned as kernels want it; a copy if it is in a device's memory or on
// a custom device. Waits for the value. Errors are those of Await, of CopyAcross, of Tensor::Copy
// and of CustomDevice::CopyFrom.
absl::StatusOr<Tensor> ValueOnHost(TFE_TensorHandle& handle);

}  // namespace tenon::eager
