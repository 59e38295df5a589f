// The spelling of devices in GraphDefs; see verifier.h.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "graph/verifier.h"

namespace tenon {
namespace {

bool IsWord(std::string_view text) {
  return !text.empty() && absl::ascii_isalpha(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

bool IsNumberOrAny(std::string_view text) {
  int32_t number;
  return text == "*" ||
         (!text.empty() && absl::ascii_isdigit(text[0]) && absl::SimpleAtoi(text, &number));
}

// "CPU:0" in the spellings from before there was "/device:".
bool IsShort(std::string_view part) {
  return (absl::ConsumePrefix(&part, "cpu:") || absl::ConsumePrefix(&part, "CPU:") ||
          absl::ConsumePrefix(&part, "gpu:") || absl::ConsumePrefix(&part, "GPU:")) &&
         IsNumberOrAny(part);
}

bool IsTypeAndOrdinal(std::string_view part) {
  const size_t colon = part.find(':');
  const std::string_view type = part.substr(0, colon);
  return (type == "*" || IsWord(type)) &&
         (colon == part.npos || IsNumberOrAny(part.substr(colon + 1)));
}

bool IsPart(std::string_view part) {
  if (absl::ConsumePrefix(&part, "job:")) return part == "*" || IsWord(part);
  if (absl::ConsumePrefix(&part, "replica:") || absl::ConsumePrefix(&part, "task:"))
    return IsNumberOrAny(part);
  if (absl::ConsumePrefix(&part, "device:")) return IsTypeAndOrdinal(part);
  return IsShort(part);
}

}  // namespace

bool IsDeviceString(std::string_view text) {
  if (text.empty() || text == "/" || IsShort(text)) return true;
  while (!text.empty()) {
    if (!absl::ConsumePrefix(&text, "/")) return false;
    const size_t end = std::min(text.find('/'), text.size());
    if (!IsPart(text.substr(0, end))) return false;
    text.remove_prefix(end);
  }
  return true;
}

}  // namespace tenon
