// Devices that a program implements itself, by callbacks, and tensors on them.
// Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/eager/device_names.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {

// Thread-safe after Check if the callbacks are thread-safe: they are called without a lock.
class CustomDevice {
 public:
  // Owns `info`: the destructor passes it to delete_device, whether Check succeeded or not. A null
  // delete_device is not called.
  CustomDevice(TFE_CustomDevice fns, void* info) : fns_(fns), info_(info) {}
  ~CustomDevice();
  CustomDevice(const CustomDevice&) = delete;
  CustomDevice& operator=(const CustomDevice&) = delete;

  // Checks the callbacks and sets the name. To be called once, before all other functions.
  // INVALID_ARGUMENT if the struct has another version, if a callback other than pack and
  // shall_pin_to_this_device is null, or if the name is not a full one.
  absl::Status Check(const char* name);
  const std::string& name() const { return name_; }  // full
  const std::string& type() const { return type_; }  // that of the name, such as "CUSTOM"
  int ordinal() const { return ordinal_; }
  // Whether the device fits a name, full or partial: the name has the device's type, no other
  // ordinal, and no other job, replica and task than this process
  // (/job:localhost/replica:0/task:0). The device's own full name fits whatever its task is, if
  // Check was given the form "/job:J/replica:R/task:T/device:TYPE:N".
  bool Fits(const DeviceName& name) const;

  // Each function calls one callback, on the calling thread. The caller owns the returned handles.
  // Errors are those of the callback. INTERNAL from CopyTo, CopyFrom and Pack if the callback sets
  // no error and returns no handle. UNIMPLEMENTED from Pack if the device has no such callback.
  // Execute: `results` has room for *num_results handles. If the callback succeeds, sets
  // *num_results to the number that the callback gives; the handles are as the callback left them.
  // After an error *num_results is unchanged, and `results` may hold anything.
  absl::StatusOr<TFE_TensorHandle*> CopyTo(TFE_Context* context, TFE_TensorHandle* handle) const;
  absl::StatusOr<TFE_TensorHandle*> CopyFrom(TFE_Context* context, TFE_TensorHandle* handle,
                                             const std::string& target) const;
  absl::Status Execute(const TFE_Op* op, TFE_TensorHandle** results, int* num_results) const;
  absl::StatusOr<TFE_TensorHandle*> Pack(TFE_Context* context, TFE_TensorHandle** handles,
                                         int num_handles) const;
  // Whether the device wants to execute an op that has inputs on it (shall_pin_to_this_device).
  // UNIMPLEMENTED if the device has no such callback; else the error of the callback.
  absl::StatusOr<bool> Wants(const TFE_Op* op) const;

 private:
  const TFE_CustomDevice fns_;
  void* const info_;
  std::string name_, type_;
  int ordinal_ = 0;
};

// A tensor on a custom device. Its data are opaque: only the device can read them. Immutable; as
// thread-safe as the device's methods, which are called without a lock.
class CustomTensor {
 public:
  // Owns `data`: the destructor passes `data` to methods.deallocator, unless that is null. If
  // `device`, methods.num_dims or methods.dim is null, the object may only be destroyed. `context`
  // is not owned, and must be alive as long as context() is used.
  CustomTensor(TFE_Context* context, std::shared_ptr<const CustomDevice> device, void* data,
               TFE_CustomDeviceTensorHandle methods)
      : context_(context), device_(std::move(device)), data_(data), methods_(methods) {}
  ~CustomTensor();
  CustomTensor(const CustomTensor&) = delete;
  CustomTensor& operator=(const CustomTensor&) = delete;

  TFE_Context* context() const { return context_; }
  const CustomDevice& device() const { return *device_; }
  void* data() const { return data_; }
  // Each asks the device's methods, anew at each call; Dim(i) is the size of dimension i in
  // elements, with 0 <= i < NumDims(). Errors are those of the methods. INVALID_ARGUMENT from
  // NumElements if a dimension is negative or the number of elements overflows.
  absl::StatusOr<int> NumDims() const;
  absl::StatusOr<int64_t> Dim(int i) const;
  absl::StatusOr<int64_t> NumElements() const;

 private:
  TFE_Context* const context_;
  const std::shared_ptr<const CustomDevice> device_;
  void* const data_;
  const TFE_CustomDeviceTensorHandle methods_;
};

// The custom devices of a context. Thread-safe.
class CustomDevices {
 public:
  using DevicePtr = std::shared_ptr<const CustomDevice>;
  bool empty() const { return empty_.load(std::memory_order_acquire); }
  // ALREADY_EXISTS if there is a device with the same full name.
  absl::Status Add(DevicePtr device);
  // The device with this full name. Null: there is none.
  DevicePtr Find(std::string_view name) const;
  // The device that was added first of those that fit the name. Null: none fits.
  DevicePtr Find(const DeviceName& name) const;

 private:
  std::atomic<bool> empty_{true};
  mutable absl::Mutex mutex_;
  std::vector<DevicePtr> devices_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
