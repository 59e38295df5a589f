// An error in other words.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace tenon {

// The same code and payloads with this text.
inline absl::Status WithMessage(const absl::Status& status, std::string_view message) {
  absl::Status other(status.code(), message);
  status.ForEachPayload(
      [&other](std::string_view key, const absl::Cord& value) { other.SetPayload(key, value); });
  return other;
}

}  // namespace tenon
