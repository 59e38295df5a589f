// Devices in the looser spelling of the command line.
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "executor/place/placer.h"

namespace tenon {

absl::StatusOr<DeviceRequest> ParseDeviceFlag(std::string_view text) {
  std::string_view name = text;
  absl::ConsumePrefix(&name, "/");
  for (const std::string_view prefix : {"/", "/device:"}) {
    absl::StatusOr<DeviceRequest> request = ParseDeviceRequest(absl::StrCat(prefix, name));
    if (request.ok() && !name.empty()) return request;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is no device name: write 'CPU', 'CPU:0' or '/device:CPU:0'"));
}

}  // namespace tenon
