// Finds libraries by name as the system's loader does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

class LibrarySearch {
 public:
  // Reads LD_LIBRARY_PATH and /etc/ld.so.conf once.
  LibrarySearch();

  // The file that the loader finds for `name` when the library at `requester`, with this run path
  // (DT_RUNPATH or DT_RPATH), needs it. Empty if there is none. A name with a slash is a path,
  // which may be relative to the working folder.
  std::string Find(std::string_view name, const std::string& requester,
                   std::string_view run_path) const;

 private:
  std::vector<std::string> before_, after_;  // folders to search before and after the run path
};

}  // namespace tenon
