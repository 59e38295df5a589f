#include "plugin/host/loading/plugin_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "plugin/host/link/dependencies.h"
#include "plugin/host/link/elf_library.h"
#include "plugin/host/link/shared_library.h"

namespace tenon {
namespace {

// The files of all libraries that the process has mapped, as the loader names them.
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
  // The files are read, not asked of the loader: it does not say which symbols are unique.
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

// A sanitizer's runtime ends the process when it finds that it was not the first library. So its
// libraries are found in the files, before the loader sees them.
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

// Adds to the loader's error, which names the library that is missing, the libraries that need it.
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

absl::Status OpenPluginLibrary(PluginLedger& ledger) {
  PluginLibrary& library = ledger.library;
  if (library.handle != nullptr) {
    ledger.staged = library.registrations;
    return absl::OkStatus();
  }
  // The system's loader would open the program.
  if (ledger.path.empty()) return absl::NotFoundError("the path is empty");
  const std::vector<Dependency> dependencies = MissingInProcess(ledger.path);
  TENON_RETURN_IF_ERROR(CheckSanitizers(dependencies, ledger.path));
  const std::set<std::string> before = MappedFiles();
  const absl::StatusOr<void*> handle = OpenLibrary(ledger.path);
  if (!handle.ok()) return WithChains(handle.status(), dependencies, ledger.path);
  library.handle = *handle;
  library.registrations = ledger.staged;  // the constructors have run
  library.resident = Stays(before, !ledger.staged.kernels.empty() || !ledger.staged.ops.empty());
  return absl::OkStatus();
}

void ClosePluginLibrary(PluginLedger& ledger) {
  if (ledger.library.handle == nullptr || ledger.library.resident) return;
  // The ledger forgets first: destructors of the library run in dlclose.
  const PluginLibrary closed = std::exchange(ledger.library, {});
  CloseLibrary(ledger.path, closed.handle);
}

}  // namespace tenon
