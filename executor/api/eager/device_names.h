// The names by which callers ask for devices. Private to executor/api/eager/.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "graph/ir/device_string.h"
#include "plugin/device/device.h"

namespace tenon::eager {

// A valid device name, full, partial or empty: the empty name fits every device. DeviceNames makes
// one object for all spellings of a name, so names can be compared by address.
struct DeviceName {
  std::string text;  // in TensorFlow's spelling: "/device:GPU:0"
  DeviceRequest request;
};

// Whether the device fits the name: each CPU device of this process fits "/device:CPU:*". No device
// fits a name with a job, replica or task other than /job:localhost/replica:0/task:0.
bool Fits(const DeviceName& name, const Device& device);
// Whether `name` is exactly one of the four names that a copy of a tensor to the device may give.
// They are the full name and, for the first CPU device, "/device:CPU:0", "CPU:0" and
// "/job:localhost/replica:0/task:0/cpu:0".
bool IsNameOf(std::string_view name, const Device& device);
// The first device that fits. Null: none fits.
Device* FindDevice(const DeviceName& name, absl::Span<Device* const> devices);

// All names that the callers of a context have used. Thread-safe.
class DeviceNames {
 public:
  // The result lives as long as this object. INVALID_ARGUMENT for a name that does not parse.
  absl::StatusOr<const DeviceName*> Find(std::string_view name);

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, const DeviceName*> by_text_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::unique_ptr<DeviceName>> names_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
