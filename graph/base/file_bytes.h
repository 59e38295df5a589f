// The bytes of a file: mapped or read, unpacked, packed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon {

struct FileBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner;  // keeps `bytes` alive
  bool mapped = false;                // `bytes` is a read-only mapping of a file
};

FileBytes BytesOf(std::string bytes);

// Large regular files are mapped, others read; "-" is standard input. NOT_FOUND, PERMISSION_DENIED,
// or INVALID_ARGUMENT for a folder and for what exceeds `max_bytes`; messages start with the path.
absl::StatusOr<FileBytes> ReadFile(const std::string& path, size_t max_bytes);
// The same for regular files only: INVALID_ARGUMENT for what might never end or never begin.
absl::StatusOr<FileBytes> ReadRegularFile(const std::string& path, size_t max_bytes);
// The same status with the path in front. OK stays OK.
absl::Status WithPath(const std::string& path, const absl::Status& status);

// Unpacks xz and gzip, told by their first bytes; anything else comes back as it is.
// INVALID_ARGUMENT "name:offset: …" for corrupt or truncated data and for output beyond `max_bytes`
// (or beyond most of the machine's memory, where that is less).
absl::StatusOr<FileBytes> Unpack(FileBytes packed, const std::string& name, size_t max_bytes);

// The inverse, for export.
absl::StatusOr<std::string> PackXz(std::string_view bytes);
absl::StatusOr<std::string> PackGzip(std::string_view bytes);

}  // namespace tenon
