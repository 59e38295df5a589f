// The struct behind TF_DeviceList. Sessions and contexts make such lists of their devices.
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
  std::string name, type;  // the full name; "CPU", "APU"
  int64_t memory_bytes;    // Device::memory_bytes; 0: unknown
  uint64_t incarnation;    // not 0
};

// A random number for ListDevices. The number may be 0. Each session and each context takes one, so
// that its devices can be told from the devices of the others. Thread-safe.
uint64_t NewIncarnation();

// Copies the facts of the devices: the list does not refer to them. Each device gets an incarnation
// of its own, made of `incarnation` and the place in the list. Two lists of the same devices in the
// same order, made with the same `incarnation`, have equal entries. The caller deletes the list
// with TF_DeleteDeviceList.
TF_DeviceList* ListDevices(absl::Span<Device* const> devices, uint64_t incarnation);

}  // namespace tenon::api

struct TF_DeviceList {
  using Pool = tenon::Handles<TF_DeviceList>;
  std::vector<tenon::api::ListedDevice> devices;
};
