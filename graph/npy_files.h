// What the NumPy readers and writers share.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tenon {

// Errors name the path.
absl::Status WriteWholeFile(const std::string& path, std::string_view bytes);
absl::Status WithPath(const std::string& path, const absl::Status& status);

}  // namespace tenon
