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

// Counted by reference. The caller of the C interface has one reference until
// TFE_DeleteTensorHandle; each op that has the handle as an input has one. The maker of the handle
// sets `dtype` and `device`. The executor sets `tensor` and `memory` of a pending handle before
// Pending::End: read them only after Await has returned OK.
struct TFE_TensorHandle {
  // A handle with its value, in the memory of `memory`; `device`: the device of the op that made
  // the value. Null: the host. The handle has one reference, which the caller gets, and is owned:
  // it counts as one that the caller of the C interface has not deleted.
  static TFE_TensorHandle* New(tenon::Tensor value, tenon::Device* memory, tenon::Device* device);
  // A handle of this type whose value comes later, as New otherwise. Adds a reference to `pending`;
  // the caller keeps its own.
  static TFE_TensorHandle* NewPending(tenon::DataType dtype, tenon::Device* device,
                                      tenon::eager::Pending* pending);

  // There are two kinds of reference: plain ones, of callers of the C interface and of ops that run
  // in the calling thread, and queued ones, of ops in a queue. The handle lives as long as there is
  // one of either kind. `refs` counts both: the low 32 bits plain ones, the high bits queued ones.

  // Whether there is a plain reference. Without one the caller of the C interface must not use the
  // handle: the last op in a queue may end it at any time. So is_deleted() may be true while ops
  // still use the handle.
  bool alive() const {
    return static_cast<int32_t>(refs.load(std::memory_order_relaxed) % kQueued) > 0;
  }
  bool is_deleted() const { return !alive(); }
  void Ref() { refs.fetch_add(1, std::memory_order_relaxed); }
  // Ref adds a plain reference, Unref takes one away and ends the handle with the last reference.
  // As in Buffer::Unref, the last holder needs no locked instruction.
  void Unref() {
    if (refs.load(std::memory_order_acquire) == 1 ||
        refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
      End();
  }
  // RefQueued adds a queued reference, UnrefQueued takes one away. ToQueue turns a plain reference
  // of the caller into a queued one.
  void RefQueued() { refs.fetch_add(kQueued, std::memory_order_relaxed); }
  void ToQueue() { refs.fetch_add(kQueued - 1, std::memory_order_relaxed); }
  void UnrefQueued() {
    if (refs.load(std::memory_order_acquire) == kQueued ||
        refs.fetch_sub(kQueued, std::memory_order_acq_rel) == kQueued)
      End();
  }
  // Whether the caller of the C interface has deleted the handle and one op alone still holds it:
  // the op may then move the value out.
  bool HasOneUser() const {
    const int64_t count = refs.load(std::memory_order_acquire);
    return (count == 1 || count == kQueued) && !owned.load(std::memory_order_relaxed);
  }
  // Blocks until the value is there; returns the error of the op that failed to make it.
  absl::Status Await() { return pending == nullptr ? absl::OkStatus() : pending->Wait(); }

  static constexpr int64_t kQueued = int64_t{1} << 32;
  // 1 for each plain reference, kQueued for each queued one. 0: deleted.
  std::atomic<int64_t> refs{0};
  std::atomic<bool> owned{false};  // the caller of the C interface has not deleted the handle
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

// INVALID_ARGUMENT if the handle is null or deleted.
absl::Status CheckHandle(const TFE_TensorHandle* handle);

// The value of the handle in host memory, aligned as kernels want it. Waits for the value. Shares
// the handle's tensor if it is aligned host memory; else the result is a copy. Errors are those of
// Await, CopyAcross, Tensor::Copy and CustomDevice::CopyFrom; INTERNAL if the custom device gives a
// copy that is on a custom device again.
absl::StatusOr<Tensor> ValueOnHost(TFE_TensorHandle& handle);

}  // namespace tenon::eager
