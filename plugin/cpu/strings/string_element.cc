#include "plugin/cpu/strings/string_element.h"

#include "absl/strings/str_format.h"

namespace tenon::cpu {

absl::Status CheckStringBytes(double bytes) {
  if (bytes <= static_cast<double>(kMostStringBytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the strings would take %.3g bytes; the limit is %d", bytes, kMostStringBytes));
}

}  // namespace tenon::cpu
