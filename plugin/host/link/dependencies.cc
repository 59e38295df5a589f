#include "plugin/host/link/dependencies.h"

#include <dlfcn.h>

#include <filesystem>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/host/link/elf_library.h"
#include "plugin/host/link/library_search.h"
#include "plugin/host/link/shared_library.h"

namespace tenon {
namespace {

// No plug-in needs so many; a bound for files that are made to need ever more.
constexpr size_t kMaxLibraries = 1000;

// Asks the loader without loading: RTLD_NOLOAD finds only what is mapped.
bool InProcess(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

}  // namespace

std::vector<Dependency> MissingInProcess(const std::string& path) {
  const LibrarySearch search;
  std::vector<Dependency> missing;
  absl::flat_hash_set<std::string> seen;
  const auto add = [&](const std::string& from, int by) {
    const absl::StatusOr<ElfLibrary> file = ReadElfLibrary(from);
    if (!file.ok()) return;
    for (const std::string& name : file->needed) {
      if (missing.size() >= kMaxLibraries || !seen.insert(name).second) continue;
      if (IsHostLibraryName(name) || InProcess(name)) continue;
      missing.push_back({name, search.Find(name, from, file->run_path), by});
    }
  };
  // Breadth first, which is the loader's order; the list grows while it is gone through.
  add(path, -1);
  for (size_t i = 0; i < missing.size(); ++i) {
    const std::string from = missing[i].path;
    if (!from.empty()) add(from, static_cast<int>(i));
  }
  return missing;
}

std::string ChainTo(const std::vector<Dependency>& dependencies, int i, const std::string& path) {
  const Dependency& last = dependencies[i];
  if (last.by < 0)
    return absl::StrCat(std::filesystem::path(path).filename().string(), " needs ", last.name);
  return absl::StrCat(ChainTo(dependencies, last.by, path), ", which needs ", last.name);
}

}  // namespace tenon
