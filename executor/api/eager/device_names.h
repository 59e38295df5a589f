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

// Whether the device fits the name: each CPU device of this process fits "/device:CPU:*".
bool Fits(const DeviceName& name, const Device& device);
// Whether this is one of the device's names, as a tensor is copied to a device: the full name,
// "/device:CPU:0", "CPU:0" or "/job:localhost/replica:0/task:0/cpu:0".
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
