// A parser of TensorFlow's device names: "/job:J/replica:R/task:T/device:TYPE:N" with any of the
// parts left out, and the short forms "CPU:0" and "/CPU:0".

#include "graph/ir/device_string.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tenon {
namespace {

bool IsWord(std::string_view text) {
  return !text.empty() && absl::ascii_isalpha(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '@'; });
}

// The digit is checked first: SimpleAtoi would take signs and blanks before the number.
bool ParseNumberOrAny(std::string_view text, int* value) {
  *value = -1;
  return text == "*" ||
         (!text.empty() && absl::ascii_isdigit(text[0]) && absl::SimpleAtoi(text, value));
}

// "APU", "APU:0", "APU:*", "*"; CPU and GPU in any case.
bool ParseTypeAndOrdinal(std::string_view text, DeviceRequest* request) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  if (colon != text.npos && !ParseNumberOrAny(text.substr(colon + 1), &request->ordinal))
    return false;
  if (type == "*") return true;
  if (!IsWord(type)) return false;
  const bool any_case = absl::EqualsIgnoreCase(type, "cpu") || absl::EqualsIgnoreCase(type, "gpu");
  request->type = any_case ? absl::AsciiStrToUpper(type) : std::string(type);
  return true;
}

// "CPU:0": the spellings from before "/device:". Only these four are known to TensorFlow.
bool ParseShort(std::string_view part, DeviceRequest* request) {
  for (const std::string_view type : {"cpu:", "CPU:", "gpu:", "GPU:"}) {
    if (absl::StartsWith(part, type)) return ParseTypeAndOrdinal(part, request);
  }
  return false;
}

bool ParsePart(std::string_view part, DeviceRequest* request) {
  if (absl::ConsumePrefix(&part, "job:")) {
    if (part == "*") return true;
    request->job = std::string(part);
    return IsWord(part);
  }
  if (absl::ConsumePrefix(&part, "replica:")) return ParseNumberOrAny(part, &request->replica);
  if (absl::ConsumePrefix(&part, "task:")) return ParseNumberOrAny(part, &request->task);
  if (absl::ConsumePrefix(&part, "device:")) return ParseTypeAndOrdinal(part, request);
  return ParseShort(part, request);
}

bool ParseParts(std::string_view text, DeviceRequest* request) {
  if (text.empty() || text == "/" || ParseShort(text, request)) return true;
  while (!text.empty()) {
    if (!absl::ConsumePrefix(&text, "/")) return false;
    const size_t end = std::min(text.find('/'), text.size());
    if (!ParsePart(text.substr(0, end), request)) return false;
    text.remove_prefix(end);
  }
  return true;
}

}  // namespace

bool IsThisTask(const DeviceRequest& r) {
  return (r.job.empty() || r.job == "localhost") && r.replica <= 0 && r.task <= 0;
}

absl::StatusOr<DeviceRequest> ParseDeviceRequest(std::string_view text) {
  DeviceRequest request;
  if (ParseParts(text, &request)) return request;
  return absl::InvalidArgumentError(
      absl::StrCat("'", text,
                   "' is no device; '/device:TYPE:0', '/device:TYPE:*', '/CPU:0' or "
                   "'/job:localhost/replica:0/task:0/device:TYPE:0' would be"));
}

}  // namespace tenon
