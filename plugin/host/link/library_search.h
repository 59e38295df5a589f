// Finds libraries by name, nearly as the loader of x86-64 Linux does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

class LibrarySearch {
 public:
  // Reads LD_LIBRARY_PATH and /etc/ld.so.conf once.
  LibrarySearch();

  // Returns the path of the library `name` that the library at the path `requester` needs. Empty if
  // there is none. `run_path` is the DT_RUNPATH or DT_RPATH of `requester`: folders between colons.
  // The first folder with a regular file `name` gives the path, in this order: LD_LIBRARY_PATH,
  // run_path, the folders of /etc/ld.so.conf, the default folders. A name with a slash is itself
  // the path, which may be relative to the working folder. $ORIGIN in `name` or `run_path` is the
  // folder of `requester`. The loader differs, for example: it searches DT_RPATH, also that of the
  // libraries that led to `requester`, before LD_LIBRARY_PATH; it reads the cache of ldconfig; it
  // skips files of another machine.
  std::string Find(std::string_view name, const std::string& requester,
                   std::string_view run_path) const;

 private:
  std::vector<std::string> before_, after_;  // folders to search before and after the run path
};

}  // namespace tenon
