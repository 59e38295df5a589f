// Choices between ways to compute one thing, by the time that each takes on the device.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "binary_cache.h"
#include "programs.h"

namespace opencl {

// Kept in memory, and on disk beside the compiled programs, for this device and driver. Processes
// share the folder; an entry that is damaged counts as none. Thread-safe.
class Tuner {
 public:
  // Off unless the variable TENON_OPENCL_TUNE is "1".
  explicit Tuner(cl_device_id device);

  // While the tuner is off, choices are the caller's own, so that answers depend on nothing that
  // was ever measured.
  bool on() const { return on_; }
  // Which of `ways` ways to take, from 0 on: that of the last call with such a key, of this process
  // or an earlier one, else the fastest by time_of(way), in seconds. `key` tells the problem and
  // the ways. Other threads wait while one measures. Throws what time_of throws.
  size_t Choose(const KernelKey& key, size_t ways, const std::function<double(size_t)>& time_of);

 private:
  const bool on_;
  const std::string device_key_;
  const BinaryCache cache_;
  std::mutex mutex_;
  std::unordered_map<std::string, size_t> chosen_;
};

}  // namespace opencl
