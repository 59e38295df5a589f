// The struct behind TF_DeviceList, for those who have devices to list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/c_api/handles.h"
#include "plugin/device/device.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

struct ListedDevice {
  std::string name, type;
  int64_t memory_bytes;
  uint64_t incarnation;  // not 0
};

// A random number that tells the devices of one session or context from those of another.
uint64_t NewIncarnation();

// Describes the devices as they are now. Lists of the same devices with the same `incarnation` are
// equal. The caller deletes the list with TF_DeleteDeviceList.
TF_DeviceList* ListDevices(absl::Span<Device* const> devices, uint64_t incarnation);

}  // namespace tenon::api

struct TF_DeviceList {
  using Pool = tenon::Handles<TF_DeviceList>;
  std::vector<tenon::api::ListedDevice> devices;
};
