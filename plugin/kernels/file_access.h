// The files that the kernels of a session may touch. The owner of the session decides. A model at
// most names assets within its own folder.
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
  // For reading only: everything below `folder`/variables, and the files that `assets` names,
  // relative to `folder`/assets (as asset_file_def does). A name that leads out of that folder is
  // left out. The files need not exist. NOT_FOUND if there is no folder of this name.
  static absl::StatusOr<FileAccess> SavedModel(const std::string& folder,
                                               const std::vector<std::string>& assets);

  // The path under which a kernel may open the file: absolute, with `..` and symbolic links to what
  // is there resolved. A relative path begins at the process's current folder. The file need not
  // exist. Links are followed as they are at the time of the call. In a SavedModel the variables'
  // folder and assets may be links to something else in the SavedModel; other links to what is not
  // allowed are denied.
  //   PERMISSION_DENIED: the path is not allowed. The message names the path and the setting that
  //   would allow it.
  //   INVALID_ARGUMENT: no file can have this path, or the system fails to resolve it. In a
  //   SavedModel also: the path is neither a regular file nor a folder nor missing (a pipe or a
  //   device, for example).
  absl::StatusOr<std::string> ForReading(std::string_view path) const;
  absl::StatusOr<std::string> ForWriting(std::string_view path) const;

 private:
  struct Folder;

  bool anything_ = false;
  std::shared_ptr<const Folder> folder_;  // the SavedModel; null: none
};

}  // namespace tenon
