// The spelling of devices in GraphDefs, for the placer and for passes that ask what a node is for.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon {

// What a node asks for.
struct DeviceRequest {
  std::string job;   // empty: any
  int replica = -1;  // -1: any
  int task = -1;
  std::string type;  // empty: any
  int ordinal = -1;  // -1: any
};

// "/job:a/replica:0/task:1/device:APU:2" or parts of it, '*' for any; the older "/cpu:0", "CPU:0",
// "/gpu:0" and "GPU:0"; "" and "/" for no request. Blanks after a number mean nothing.
// INVALID_ARGUMENT quotes the string.
absl::StatusOr<DeviceRequest> ParseDeviceRequest(std::string_view text);
// Whether this process is among those asked for.
bool IsThisTask(const DeviceRequest& request);

}  // namespace tenon
