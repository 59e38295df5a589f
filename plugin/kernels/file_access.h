// The files that the kernels of a session may touch. The owner of the session decides; a graph
// never does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon {

// Cheap to copy and immutable; thread-safe.
class FileAccess {
 public:
  // No file.
  FileAccess() = default;
  // Any file, for reading and writing.
  static FileAccess Anything();
  // For reading only: everything in `folder`/variables, and the files of `folder`/assets that
  // `assets` names (as asset_file_def does). NOT_FOUND if there is no such folder.
  static absl::StatusOr<FileAccess> SavedModel(const std::string& folder,
                                               const std::vector<std::string>& assets);

  // The path under which a kernel may open the file: absolute, with `..` and symbolic links
  // resolved. The file need not exist. PERMISSION_DENIED names the path and the setting that would
  // allow it. INVALID_ARGUMENT for a path that no file can have, and in a SavedModel for a path
  // that is neither a file nor a folder.
  absl::StatusOr<std::string> ForReading(std::string_view path) const;
  absl::StatusOr<std::string> ForWriting(std::string_view path) const;

 private:
  struct Folder;

  bool anything_ = false;
  std::shared_ptr<const Folder> folder_;  // the SavedModel; null: none
};

}  // namespace tenon
