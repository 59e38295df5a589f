// The index file of a checkpoint: a LevelDB table, sorted strings with checksums.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace tenon {

// An open index, in memory or mapped. Messages start with the path.
// NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT: as of ReadRegularFile (graph/base/file_bytes.h).
// DATA_LOSS: a checksum or the structure is wrong.
// RESOURCE_EXHAUSTED: memory is short; the message has no path.
// Reading is thread-safe.
class IndexTable {
 public:
  // Reads the file and checks its end. Find and ForEach check the blocks that they read.
  static absl::StatusOr<IndexTable> Open(const std::string& path);
  IndexTable(IndexTable&&) noexcept;
  IndexTable& operator=(IndexTable&&) noexcept;
  ~IndexTable();

  const std::string& path() const;
  // The value of the key; nullopt if the index has no such key.
  absl::StatusOr<std::optional<std::string>> Find(std::string_view key) const;
  // Calls `visit` for all keys in ascending order of bytes, the header's included. The views are
  // valid during the call. Ends at the first error, of `visit` or of the table, and returns it; an
  // error of `visit` as it is, without the path.
  absl::Status ForEach(
      absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)> visit) const;

 private:
  struct Impl;
  explicit IndexTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns the bytes of a table with these keys and values, uncompressed. INTERNAL if LevelDB fails.
// Throws bad_alloc where memory is short.
absl::StatusOr<std::string> IndexTableBytes(const std::map<std::string, std::string>& entries);

}  // namespace tenon
