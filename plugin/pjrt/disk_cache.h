// Compiled programs on disk, for later processes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenon::pjrt {

// A folder with a file for each key. Several processes may use one folder: a file is written under
// another name and then renamed. A file that is not whole, or that is of another key, counts as
// absent. Thread-safe.
class DiskCache {
 public:
  // Makes the folder, which only its owner may read, unless it is there. An empty path, and one
  // that cannot be made, stand for no cache; of the latter a warning is given (WarnOf).
  explicit DiskCache(std::string folder);

  std::optional<std::string> Read(std::string_view key) const;
  // An error is a warning, no concern of the caller's: the program is compiled again next time.
  void Write(std::string_view key, std::string_view bytes) const;

 private:
  std::string PathOf(std::string_view key) const;
  std::string folder_;
};

// What tells one build of a plug-in's file from another: the file's size, its time and a hash of
// its first 64 KiB. The path itself if its size cannot be read.
std::string IdentityOfFile(const std::string& path);

}  // namespace tenon::pjrt
