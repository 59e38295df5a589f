// Reads files as bytes, mapped or copied; packs and unpacks bytes. All functions are thread-safe.
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

// Takes over `bytes`, which the result owns.
FileBytes BytesOf(std::string bytes);

// Reads a whole file, which may be a pipe or a terminal. "-" is standard input, which may be a
// socket too, and is read from its present offset to its end and always copied. Regular files from
// 256 KiB on are mapped, other files are copied. A mapped file must not be made shorter while
// `owner` lives: reading the lost part would be a bus error. Throws bad_alloc if there is no memory
// for a copy. Errors start with the path ("-" or "<stdin>" for standard input): NOT_FOUND,
// PERMISSION_DENIED: as the system says. INVALID_ARGUMENT: a folder; a device other than a terminal
// and /dev/null, which may have no end; more than `max_bytes` bytes (of standard input that is a
// regular file the whole file counts); of a file that is not regular, more than half of the
// machine's memory too; or any other error of the system.
absl::StatusOr<FileBytes> ReadFile(const std::string& path, size_t max_bytes);
// ReadFile for regular files only, where "-" is a name like any other. INVALID_ARGUMENT also for a
// pipe or a device: reading one might never end, and opening one might wait for a writer.
absl::StatusOr<FileBytes> ReadRegularFile(const std::string& path, size_t max_bytes);
// Returns `status` with "path: " in front of its message. OK stays OK.
absl::Status WithPath(const std::string& path, const absl::Status& status);

// Unpacks xz and gzip, told by their first bytes, whatever the name. Several members one behind the
// other become one output. Other bytes come back as they are, even if they exceed `max_bytes`.
// INVALID_ARGUMENT "name: byte N: …", where N counts packed bytes: the data is corrupt or
// truncated, or makes more than `max_bytes` bytes, or more than half of the machine's memory.
// RESOURCE_EXHAUSTED: no memory for the output or the decoder, or a decoder of more than 512 MiB.
absl::StatusOr<FileBytes> Unpack(FileBytes packed, const std::string& name, size_t max_bytes);

// Pack bytes, with the default level of each format. PackXz has one error, RESOURCE_EXHAUSTED,
// whatever the reason. PackGzip: RESOURCE_EXHAUSTED without memory for the encoder, INTERNAL if
// packing fails later. Both throw bad_alloc without memory for the packed bytes.
absl::StatusOr<std::string> PackXz(std::string_view bytes);
absl::StatusOr<std::string> PackGzip(std::string_view bytes);

}  // namespace tenon
