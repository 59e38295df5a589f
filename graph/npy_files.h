// Whole files as strings, for the NumPy readers and writers. Private to them.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon {

// Errors name the path.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
absl::Status WriteWholeFile(const std::string& path, std::string_view bytes);
absl::Status WithPath(const std::string& path, const absl::Status& status);

}  // namespace tenon
