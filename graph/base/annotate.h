// Adds words to the message of an error on its way up.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tenon {

// Returns an error with the code and the payloads of `status`, and with `before` in front of its
// message and `after` behind it. OK stays OK.
inline absl::Status Annotate(const absl::Status& status, std::string_view before,
                             std::string_view after = {}) {
  absl::Status annotated(status.code(), absl::StrCat(before, status.message(), after));
  status.ForEachPayload([&annotated](std::string_view key, const absl::Cord& value) {
    annotated.SetPayload(key, value);
  });
  return annotated;
}

}  // namespace tenon
