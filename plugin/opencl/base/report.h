// The number of a message that a kernel may report (DeviceErrors), without its text in each call.
#pragma once

#include <mutex>

#include "../device/device.h"
#include "dims.h"

namespace opencl {

// Remembers the last number. Thread-safe.
class Report {
 public:
  // The number of the message that `make` writes, which `sizes` decide: it is called when these or
  // the device are not those of the last call.
  template <typename MakeMessage>
  cl_int Number(DeviceErrors& errors, const Dims& sizes, MakeMessage make) const {
    const std::lock_guard lock(mutex_);
    if (errors_ == &errors && sizes_ == sizes) return number_;
    number_ = errors.NumberOf(make());
    errors_ = &errors;
    sizes_ = sizes;
    return number_;
  }

 private:
  mutable std::mutex mutex_;
  mutable const DeviceErrors* errors_ = nullptr;
  mutable Dims sizes_;
  mutable cl_int number_ = 0;
};

}  // namespace opencl
