// Devices that a program implements itself, by callbacks, and tensors on them.
// Private to executor/api/eager/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/eager/device_names.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {

// Thread-safe but for Check, as far as the callbacks are: no lock is held while they are called.
class CustomDevice {
 public:
  // Owns `info`: the last call is delete_device, by the destructor.
  CustomDevice(TFE_CustomDevice fns, void* info) : fns_(fns), info_(info) {}
  ~CustomDevice();
  CustomDevice(const CustomDevice&) = delete;
  CustomDevice& operator=(const CustomDevice&) = delete;

  // Sets the name, before anything else is called. INVALID_ARGUMENT for another version of the
  // struct, for a function that is missing, and for a name that is not a full one.
  absl::Status Check(const char* name);
  const std::string& name() const { return name_; }  // full
  const std::string& type() const { return type_; }  // "CUSTOM"
  int ordinal() const { return ordinal_; }
  // Whether a request, full or partial, fits the device. One without a type does not.
  bool Fits(const DeviceName& name) const;

  // The callbacks. Their errors are the device's own; INTERNAL if one gives neither an error nor a
  // result. Handles that they give are the caller's. Pack is UNIMPLEMENTED, and Wants true, for a
  // device without this callback.
  absl::StatusOr<TFE_TensorHandle*> CopyTo(TFE_Context* context, TFE_TensorHandle* handle) const;
  absl::StatusOr<TFE_TensorHandle*> CopyFrom(TFE_Context* context, TFE_TensorHandle* handle,
                                             const std::string& target) const;
  absl::Status Execute(const TFE_Op* op, TFE_TensorHandle** results, int* num_results) const;
  absl::StatusOr<TFE_TensorHandle*> Pack(TFE_Context* context, TFE_TensorHandle** handles,
                                         int num_handles) const;
  // Whether an op with inputs on this device is to be executed there. UNIMPLEMENTED if the device
  // has no function that says so, the error of that function if it fails.
  absl::StatusOr<bool> Wants(const TFE_Op* op) const;

 private:
  const TFE_CustomDevice fns_;
  void* const info_;
  std::string name_, type_;
  int ordinal_ = 0;
};

// A tensor on a custom device, which alone knows what it is. Immutable.
class CustomTensor {
 public:
  // Owns `data`: the destructor calls methods.deallocator. The other methods must be set.
  CustomTensor(TFE_Context* context, std::shared_ptr<const CustomDevice> device, void* data,
               TFE_CustomDeviceTensorHandle methods)
      : context_(context), device_(std::move(device)), data_(data), methods_(methods) {}
  ~CustomTensor();
  CustomTensor(const CustomTensor&) = delete;
  CustomTensor& operator=(const CustomTensor&) = delete;

  TFE_Context* context() const { return context_; }
  const CustomDevice& device() const { return *device_; }
  void* data() const { return data_; }  // the device's own
  // Errors are the device's own, and INVALID_ARGUMENT for dimensions that are no shape.
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
  // ALREADY_EXISTS if there is one of this name.
  absl::Status Add(DevicePtr device);
  // Null if there is none of this full name.
  DevicePtr Find(std::string_view name) const;
  // The first that fits; null if none does.
  DevicePtr Find(const DeviceName& name) const;

 private:
  std::atomic<bool> empty_{true};
  mutable absl::Mutex mutex_;
  std::vector<DevicePtr> devices_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
