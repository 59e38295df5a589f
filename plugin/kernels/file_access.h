// Which files the kernels of a session may touch. The owner of the session decides; a graph never
// does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon {

// Cheap to copy, immutable.
class FileAccess {
 public:
  // None at all.
  FileAccess() = default;
  // Any file, for reading and writing.
  static FileAccess Anything();
  // For reading only: what lies in `folder`/variables, and the files of `folder`/assets whose names
  // (as asset_file_def has them) are given. NOT_FOUND if there is no such folder.
  static absl::StatusOr<FileAccess> SavedModel(const std::string& folder,
                                               const std::vector<std::string>& assets);

  // The path under which the file may be opened: absolute, with `..` and symbolic links resolved.
  // It need not exist. PERMISSION_DENIED names the path and what would allow it; INVALID_ARGUMENT
  // for a path that no file can have, and in a SavedModel for what is neither file nor folder.
  absl::StatusOr<std::string> ForReading(std::string_view path) const;
  absl::StatusOr<std::string> ForWriting(std::string_view path) const;

 private:
  struct Folder;

  bool anything_ = false;
  std::shared_ptr<const Folder> folder_;  // of a SavedModel
};

}  // namespace tenon
