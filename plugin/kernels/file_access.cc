#include "plugin/kernels/file_access.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

// Resolves the part of the path that exists by the file system, the rest by its letters. Links are
// resolved before a path is compared with a folder: a link in a SavedModel must not lead out of it.
absl::StatusOr<fs::path> Resolve(std::string_view path) {
  if (path.empty()) return absl::InvalidArgumentError("the name of a file is empty");
  // The system's calls would end the name at a NUL and open another file than the one that was
  // checked.
  if (path.find('\0') != path.npos) {
    return absl::InvalidArgumentError(absl::StrCat(path.substr(0, path.find('\0')),
                                                   ": the name of the file goes on after a NUL"));
  }
  std::error_code error;
  fs::path resolved = fs::absolute(path, error);
  if (!error) resolved = fs::weakly_canonical(resolved, error);
  if (!error) return resolved;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.message()));
}

// Whether `path` lies below `folder`; the folder itself does not.
bool IsWithin(const fs::path& path, const fs::path& folder) {
  const fs::path rest = path.lexically_relative(folder);
  return !rest.empty() && *rest.begin() != ".." && *rest.begin() != ".";
}

// What a path leads to, in the folder `root` or below it; nothing if it leads out.
std::optional<fs::path> Target(const fs::path& path, const fs::path& root) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(path, error);
  if (error || !IsWithin(target, root)) return std::nullopt;
  return target;
}

absl::Status Refuse(std::string_view path, std::string_view why) {
  return absl::PermissionDeniedError(
      absl::StrCat(path, ": ", why, "; --allow-file-io would allow it"));
}

}  // namespace

struct FileAccess::Folder {
  // Whether `path`, which is resolved, lies below the folder of the variables or is an asset. Both
  // may be links to something else in the SavedModel.
  bool Allows(const fs::path& path) const {
    const std::optional<fs::path> values = Target(root / "variables", root);
    return (values && IsWithin(path, *values)) ||
           std::any_of(assets.begin(), assets.end(),
                       [&](const fs::path& asset) { return Target(asset, root) == path; });
  }

  fs::path root;  // resolved
  std::vector<fs::path> assets;
};

FileAccess FileAccess::Anything() {
  FileAccess access;
  access.anything_ = true;
  return access;
}

absl::StatusOr<FileAccess> FileAccess::SavedModel(const std::string& folder,
                                                  const std::vector<std::string>& assets) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  if (!fs::is_directory(root, error)) return absl::NotFoundError(folder + ": is no folder");
  auto allowed = std::make_shared<Folder>();
  allowed->root = root;
  for (const std::string& asset : assets) {
    // The name comes from the model: ".." in it must not leave the folder.
    fs::path path = (root / "assets" / asset).lexically_normal();
    if (IsWithin(path, root / "assets")) allowed->assets.push_back(std::move(path));
  }
  FileAccess access;
  access.folder_ = std::move(allowed);
  return access;
}

absl::StatusOr<std::string> FileAccess::ForReading(std::string_view path) const {
  TENON_ASSIGN_OR_RETURN(const fs::path resolved, Resolve(path));
  if (anything_) return resolved.string();
  if (folder_ == nullptr) return Refuse(path, "this graph may not read files");
  if (!folder_->Allows(resolved)) {
    return Refuse(path, absl::StrCat("a SavedModel may read its variables and assets only, not ",
                                     resolved.string()));
  }
  // A pipe or a device in the folder could block the reader for ever.
  std::error_code error;
  const fs::file_type type = fs::status(resolved, error).type();
  if (type == fs::file_type::regular || type == fs::file_type::directory ||
      type == fs::file_type::not_found) {
    return resolved.string();
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": is no regular file"));
}

absl::StatusOr<std::string> FileAccess::ForWriting(std::string_view path) const {
  TENON_ASSIGN_OR_RETURN(const fs::path resolved, Resolve(path));
  if (anything_) return resolved.string();
  return Refuse(path, "this graph may not write files");
}

}  // namespace tenon
