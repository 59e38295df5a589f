// Parses the device strings of GraphDefs, for the placer and for passes.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon {

// The device that a node asks for.
struct DeviceRequest {
  std::string job;   // empty: any
  int replica = -1;  // -1: any
  int task = -1;     // -1: any
  std::string type;  // empty: any
  int ordinal = -1;  // -1: any
};

// Parses "/job:a/replica:0/task:1/device:APU:2" or some of its parts, with '*' for any. Also
// accepts the older "/cpu:0", "/CPU:0", "/gpu:0" and "/GPU:0", alone also without the slash, and ""
// and "/" for no request. Parts may come in any order. Behind "/device:", CPU and GPU may be
// written in any case; the result has capitals. Ignores blanks behind a number. INVALID_ARGUMENT
// quotes the string.
absl::StatusOr<DeviceRequest> ParseDeviceRequest(std::string_view text);
// Whether the request allows this process: job localhost, replica 0, task 0.
bool IsThisTask(const DeviceRequest& request);

}  // namespace tenon
