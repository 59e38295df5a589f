// Device strings, in the spellings that GraphDefs use and in the looser ones of the command line.
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "executor/placer.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

// The text up to the next '/'; `rest` keeps what follows.
std::string_view NextPart(std::string_view* rest) {
  const size_t end = rest->find('/');
  std::string_view part = rest->substr(0, end);
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end);
  return part;
}

bool ParseNumber(std::string_view text, int* value) {
  *value = -1;
  if (text == "*") return true;
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  return absl::SimpleAtoi(text, value);
}

bool IsTypeName(std::string_view type) {
  if (type.empty() || !absl::ascii_isalpha(type[0])) return false;
  for (char c : type) {
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  }
  return true;
}

bool IsLegacyType(std::string_view type) {
  return absl::EqualsIgnoreCase(type, "cpu") || absl::EqualsIgnoreCase(type, "gpu");
}

// "APU", "APU:0", "APU:*", "*"; CPU and GPU in any case.
bool ParseTypeAndOrdinal(std::string_view text, DeviceRequest* request) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  if (colon != std::string_view::npos && !ParseNumber(text.substr(colon + 1), &request->ordinal))
    return false;
  if (type == "*") return true;
  if (!IsTypeName(type)) return false;
  request->type = IsLegacyType(type) ? absl::AsciiStrToUpper(type) : std::string(type);
  return true;
}

bool ParsePart(std::string_view part, DeviceRequest* request) {
  if (absl::ConsumePrefix(&part, "job:")) {
    request->job = part == "*" ? "" : std::string(part);
    return !part.empty();
  }
  if (absl::ConsumePrefix(&part, "replica:")) return ParseNumber(part, &request->replica);
  if (absl::ConsumePrefix(&part, "task:")) return ParseNumber(part, &request->task);
  if (absl::ConsumePrefix(&part, "device:")) return ParseTypeAndOrdinal(part, request);
  const size_t colon = part.find(':');
  return colon != std::string_view::npos && IsLegacyType(part.substr(0, colon)) &&
         ParseTypeAndOrdinal(part, request);
}

bool ParseParts(std::string_view text, DeviceRequest* request) {
  if (!absl::StartsWith(text, "/")) return text.empty() || ParsePart(text, request);
  while (!text.empty()) {
    text.remove_prefix(1);
    if (!ParsePart(NextPart(&text), request)) return false;
  }
  return true;
}

absl::Status BadDevice(std::string_view text, std::string_view right) {
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no device name: ", right));
}

}  // namespace

absl::StatusOr<DeviceRequest> ParseDeviceRequest(std::string_view text) {
  DeviceRequest request;
  if (ParseParts(text, &request)) return request;
  return BadDevice(text,
                   "a graph may say '/device:CPU:0', '/device:CPU:*', '/cpu:0', "
                   "'/job:localhost/replica:0/task:0/device:CPU:0' or a part of it");
}

absl::StatusOr<DeviceRequest> ParseDeviceFlag(std::string_view text) {
  DeviceRequest request;
  std::string_view name = text;
  if (!text.empty() && ParseParts(text, &request)) return request;
  request = DeviceRequest();
  absl::ConsumePrefix(&name, "/");
  if (ParseTypeAndOrdinal(name, &request)) return request;
  return BadDevice(text, "write 'CPU', 'CPU:0' or '/device:CPU:0'");
}

}  // namespace tenon
