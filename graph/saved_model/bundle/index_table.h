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

// Messages start with the path. What the file says is checked: DATA_LOSS where a checksum or the
// structure is wrong.
class IndexTable {
 public:
  static absl::StatusOr<IndexTable> Open(const std::string& path);
  IndexTable(IndexTable&&) noexcept;
  IndexTable& operator=(IndexTable&&) noexcept;
  ~IndexTable();

  const std::string& path() const;
  absl::StatusOr<std::optional<std::string>> Find(std::string_view key) const;
  // All keys in order; the first error ends it.
  absl::Status ForEach(
      absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)> visit) const;

 private:
  struct Impl;
  explicit IndexTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The bytes of a table with these keys and values.
absl::StatusOr<std::string> IndexTableBytes(const std::map<std::string, std::string>& entries);

}  // namespace tenon
