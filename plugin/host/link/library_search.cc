#include "plugin/host/link/library_search.h"

#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxIncludes = 8;  // a file of the configuration may include itself

std::vector<std::string> FilesLike(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return files;
}

// Adds the folders of a configuration of ldconfig. A line is a folder, or "include" and a pattern
// of further files. The cache that ldconfig writes is not read: its format is the C library's own.
void ReadConfig(const std::string& path, int depth, std::vector<std::string>& folders) {
  std::ifstream file(path);
  std::string text;
  while (std::getline(file, text)) {
    std::string_view line =
        absl::StripAsciiWhitespace(std::string_view(text).substr(0, text.find('#')));
    if (absl::ConsumePrefix(&line, "include ") && depth < kMaxIncludes) {
      for (const std::string& more : FilesLike(std::string(absl::StripAsciiWhitespace(line))))
        ReadConfig(more, depth + 1, folders);
    } else if (absl::StartsWith(line, "/")) {
      folders.emplace_back(line);
    }
  }
}

// The path, or empty if there is no file.
std::string IfFile(std::string path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? path : "";
}

std::string FileIn(std::string_view folder, std::string_view name) {
  return IfFile(absl::StrCat(folder, "/", name));
}

}  // namespace

// The order of ld.so(8), but that DT_RPATH counts as DT_RUNPATH: LD_LIBRARY_PATH, the run path, the
// configured folders, the default folders.
LibrarySearch::LibrarySearch() {
  const char* variable = std::getenv("LD_LIBRARY_PATH");
  before_ =
      absl::StrSplit(variable == nullptr ? "" : variable, absl::ByAnyChar(":;"), absl::SkipEmpty());
  ReadConfig("/etc/ld.so.conf", 0, after_);
  for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64",
                             "/usr/lib64", "/lib", "/usr/lib"})
    after_.emplace_back(folder);
}

std::string LibrarySearch::Find(std::string_view name, const std::string& requester,
                                std::string_view run_path) const {
  const std::string origin = fs::path(requester).parent_path().string();
  const auto expanded = [&origin](std::string_view text) {
    return absl::StrReplaceAll(text, {{"$ORIGIN", origin}, {"${ORIGIN}", origin}});
  };
  // A name with a slash is a path, from the working folder unless it begins with the slash: the
  // loader searches no folder.
  if (absl::StrContains(name, '/')) return IfFile(expanded(name));
  for (const std::string& folder : before_) {
    if (std::string path = FileIn(folder, name); !path.empty()) return path;
  }
  for (std::string_view folder : absl::StrSplit(run_path, ':', absl::SkipEmpty())) {
    if (std::string path = FileIn(expanded(folder), name); !path.empty()) return path;
  }
  for (const std::string& folder : after_) {
    if (std::string path = FileIn(folder, name); !path.empty()) return path;
  }
  return "";
}

}  // namespace tenon
