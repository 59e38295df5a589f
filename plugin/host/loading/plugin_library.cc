#include "plugin/host/loading/plugin_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "plugin/host/link/dependencies.h"
#include "plugin/host/link/elf_library.h"
#include "plugin/host/link/shared_library.h"

namespace tenon {
namespace {

struct Opened {
  PluginLibrary library;
  Registrations registrations;
};

absl::Mutex mutex;
absl::flat_hash_map<std::string, Opened>& Libraries() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
  static auto* const libraries = new absl::flat_hash_map<std::string, Opened>;
  return *libraries;
}

std::set<std::string> MappedFiles() {
  std::set<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        static_cast<std::set<std::string>*>(out)->insert(info->dlpi_name);
        return 0;
      },
      &files);
  return files;
}

// Whether the library stays. What a concurrent load maps is taken for this one's: that errs on the
// side of keeping.
bool Stays(const std::set<std::string>& before, bool registered) {
  std::set<std::string> mapped = MappedFiles();
  std::erase_if(mapped, [&](const std::string& file) { return before.contains(file); });
  if (registered && mapped.size() > 1) return true;
  return std::any_of(mapped.begin(), mapped.end(), [](const std::string& file) {
    const absl::StatusOr<ElfLibrary> library = ReadElfLibrary(file);
    return library.ok() && library->unique_symbols;
  });
}

// Sanitizers that must be in the process from its start, and a function of each one's runtime.
struct Sanitizer {
  const char* name;
  const char* library;
  const char* function;
};
constexpr Sanitizer kSanitizers[] = {
    {"address", "asan", "__asan_init"},
    {"thread", "tsan", "__tsan_init"},
    {"hardware-assisted address", "hwasan", "__hwasan_init"},
    {"memory", "msan", "__msan_init"},
    {"leak", "lsan", "__lsan_init"},
};

const Sanitizer* RuntimeOf(const std::string& library) {
  const auto it =
      std::find_if(std::begin(kSanitizers), std::end(kSanitizers), [&](const Sanitizer& sanitizer) {
        return absl::StartsWith(library, absl::StrCat("lib", sanitizer.library, ".so")) ||
               absl::StartsWith(library, absl::StrCat("libclang_rt.", sanitizer.library));
      });
  return it == std::end(kSanitizers) ? nullptr : it;
}

absl::Status CheckSanitizers(const std::vector<Dependency>& dependencies, const std::string& path) {
  for (size_t i = 0; i < dependencies.size(); ++i) {
    const std::string& runtime = dependencies[i].name;
    const Sanitizer* sanitizer = RuntimeOf(runtime);
    if (sanitizer == nullptr || dlsym(RTLD_DEFAULT, sanitizer->function) != nullptr) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        ChainTo(dependencies, static_cast<int>(i), path), ", the runtime of the ", sanitizer->name,
        " sanitizer, which must be in the process from its start; preload it (LD_PRELOAD=", runtime,
        ") or build without -fsanitize"));
  }
  return absl::OkStatus();
}

// The loader names what it cannot find, but not who needs it.
absl::Status WithChains(absl::Status status, const std::vector<Dependency>& dependencies,
                        const std::string& path) {
  std::string chains;
  for (size_t i = 0; i < dependencies.size(); ++i) {
    if (!dependencies[i].path.empty()) continue;
    absl::StrAppend(&chains, chains.empty() ? " (" : "; ",
                    ChainTo(dependencies, static_cast<int>(i), path), ", which is nowhere");
  }
  if (chains.empty()) return status;
  return Annotate(status, "", absl::StrCat(chains, ")"));
}

}  // namespace

absl::StatusOr<PluginLibrary> OpenPluginLibrary(const std::string& path, LoadScope& scope) {
  {
    absl::MutexLock lock(&mutex);
    const auto it = Libraries().find(path);
    if (it != Libraries().end()) {
      scope.Add(CopyOf(it->second.registrations));
      return it->second.library;
    }
  }
  const std::vector<Dependency> dependencies = MissingInProcess(path);
  TENON_RETURN_IF_ERROR(CheckSanitizers(dependencies, path));
  const std::set<std::string> before = MappedFiles();
  const absl::StatusOr<void*> handle = OpenLibrary(path);
  if (!handle.ok()) return WithChains(handle.status(), dependencies, path);
  Opened opened;
  opened.library.handle = *handle;
  opened.registrations = CopyOf(scope.staged());
  opened.library.resident = Stays(before, scope.num_kernels() > 0 || !scope.op_names().empty());
  absl::MutexLock lock(&mutex);
  return Libraries().insert_or_assign(path, std::move(opened)).first->second.library;
}

void KernelsRegistered(const std::string& path, const LoadScope& scope) {
  absl::MutexLock lock(&mutex);
  Opened& opened = Libraries().at(path);
  opened.library.kernels_registered = true;
  opened.registrations = CopyOf(scope.staged());
}

void ClosePluginLibrary(const std::string& path) {
  void* handle;
  {
    absl::MutexLock lock(&mutex);
    const auto it = Libraries().find(path);
    if (it == Libraries().end() || it->second.library.resident) return;
    handle = it->second.library.handle;
    Libraries().erase(it);
  }
  CloseLibrary(path, handle);
}

}  // namespace tenon
