#include "plugin/host/link/link_check.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/host/link/library_search.h"
#include "plugin/host/link/shared_library.h"

namespace tenon {
namespace {

constexpr size_t kMaxLinked = 1000;  // a bound for files that are made to need ever more
constexpr std::string_view kEntryPoints[] = {"SE_InitPlugin", "TFNPD_InitPlugin", "TF_InitKernel",
                                             "TF_InitGraph",  "TF_InitProfiler",  "GetPjrtApi"};

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

bool Has(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

// The name itself where it is no C++ name, or a damaged one.
std::string Demangled(const std::string& name) {
  int failure = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failure), std::free);
  return failure == 0 && text != nullptr ? text.get() : name;
}

// Where this process has a symbol: in its program or in a library of the global scope. The process
// is asked (dlsym), since it cannot be wrong about itself.
struct LoadedFile {
  std::string library;  // file name; empty: nobody has it
  bool of_host = false;
};
LoadedFile FindInProcess(const std::string& name) {
  const void* address = dlsym(RTLD_DEFAULT, name.c_str());
  Dl_info info;
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  static const void* const self = [] {
    Dl_info own;
    return dladdr(reinterpret_cast<void*>(&CheckLinks), &own) == 0 ? nullptr : own.dli_fbase;
  }();
  return {FileName(info.dli_fname), info.dli_fbase == self};
}

class Checker {
 public:
  absl::StatusOr<LinkReport> Run(const std::string& path) {
    report_.path = CanonicalPath(path);
    TENON_ASSIGN_OR_RETURN(report_.file, ReadElfLibrary(report_.path));
    for (const std::string_view entry : kEntryPoints) {
      if (Has(report_.file.exported, std::string(entry))) report_.entry_points.emplace_back(entry);
    }
    CollectLibraries();
    CheckSymbols(report_.file, FileName(report_.path), /*all=*/true);
    for (const Library& library : libraries_) {
      if (!library.of_system) CheckSymbols(library.file, FileName(library.path), /*all=*/false);
    }
    return std::move(report_);
  }

 private:
  struct Library {
    std::string path;
    ElfLibrary file;
    bool of_system = false;  // the process has it already, whole
  };

  // Collects libraries breadth first, which is the loader's order. A name counts once.
  void CollectLibraries() {
    absl::flat_hash_set<std::string> seen;
    Add(report_.file, report_.path, seen);
    for (size_t i = 0; i < libraries_.size(); ++i) {
      const Library& library = libraries_[i];
      Add(library.file, library.path, seen);
    }
  }

  void Add(const ElfLibrary& file, const std::string& path,
           absl::flat_hash_set<std::string>& seen) {
    for (const std::string& name : file.needed) {
      if (libraries_.size() >= kMaxLinked || !seen.insert(name).second) continue;
      NeededLibrary needed{.name = name, .by = FileName(path), .path = {}, .damage = {}};
      needed.of_host = IsHostLibraryName(name);
      if (!needed.of_host) needed.path = search_.Find(name, path, file.run_path);
      if (!needed.path.empty()) Open(needed);
      report_.needed.push_back(std::move(needed));
    }
  }

  // A library that the process has already is not checked for its own symbols: the loader has bound
  // them.
  void Open(NeededLibrary& needed) {
    absl::StatusOr<ElfLibrary> file = ReadElfLibrary(needed.path);
    if (!file.ok()) {
      needed.damage = std::string(file.status().message());
      return;
    }
    void* const present = dlopen(needed.name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (present != nullptr) dlclose(present);
    libraries_.push_back({needed.path, *std::move(file), present != nullptr});
  }

  void CheckSymbols(const ElfLibrary& file, const std::string& by, bool all) {
    for (const ElfSymbol& symbol : file.undefined) {
      SymbolFinding finding{
          .symbol = symbol, .by = by, .readable = {}, .library = {}, .wrong_version = {}};
      Decide(finding);
      const bool fine = finding.state != SymbolState::kMissing;
      if (fine && !all) continue;
      finding.cxx = absl::StartsWith(symbol.name, "_Z");
      finding.readable = finding.cxx ? Demangled(symbol.name) : symbol.name;
      if (!fine && finding.library.empty()) finding.library = LikelyOwner(symbol);
      report_.symbols.push_back(std::move(finding));
    }
  }

  void Decide(SymbolFinding& finding) const {
    const ElfSymbol& symbol = finding.symbol;
    const LoadedFile here = FindInProcess(symbol.name);
    if (here.of_host || InHostLibrary(symbol.name)) {
      finding.state = SymbolState::kHost;
      return;
    }
    if (const Library* owner = OwnerOf(symbol)) {
      finding.library = FileName(owner->path);
      if (HasSymbol(*owner, symbol)) {
        finding.state = SymbolState::kLibrary;
        return;
      }
      finding.wrong_version = NewestLike(owner->file.versions, symbol.version);
    } else if (Has(report_.file.exported, symbol.name)) {  // the plug-in, for its libraries
      finding.library = FileName(report_.path);
      finding.state = SymbolState::kLibrary;
      return;
    } else if (!here.library.empty()) {
      finding.library = here.library;
      finding.state = SymbolState::kLibrary;
      return;
    }
    if (symbol.weak) finding.state = SymbolState::kWeak;
  }

  // The library that defines the symbol in the right version. Else the library that the symbol's
  // version names, though it has no such symbol: an older one than the plug-in was built with.
  // Another library than the named one may define the symbol, since symbols move between the
  // system's libraries and the name does not bind the loader.
  const Library* OwnerOf(const ElfSymbol& symbol) const {
    const auto named = [&](const Library& library) {
      return !symbol.library.empty() && FileName(library.path) == symbol.library &&
             !library.file.versions.empty();
    };
    const Library* owner = nullptr;
    for (const Library& library : libraries_) {
      if (named(library)) owner = &library;
    }
    if (owner != nullptr && HasSymbol(*owner, symbol)) return owner;
    for (const Library& library : libraries_) {
      if (HasSymbol(library, symbol)) return &library;
    }
    return owner;
  }

  // Whether one of Tenon's libraries with TensorFlow's names defines the symbol. They define some
  // that libtenon does not.
  bool InHostLibrary(const std::string& name) const {
    return std::any_of(
        report_.needed.begin(), report_.needed.end(), [&](const NeededLibrary& needed) {
          if (!needed.of_host) return false;
          void* const library = dlopen(needed.name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
          if (library == nullptr) return false;
          const void* const address = dlsym(library, name.c_str());
          dlclose(library);
          Dl_info info;
          return address != nullptr && dladdr(address, &info) != 0 && info.dli_fname != nullptr &&
                 IsHostLibraryName(FileName(info.dli_fname));
        });
  }

  // A library without versions satisfies any version, if it has the name: so does the loader.
  static bool HasSymbol(const Library& library, const ElfSymbol& symbol) {
    const bool version = symbol.version.empty() || library.file.versions.empty() ||
                         Has(library.file.versions, symbol.version);
    return version && Has(library.file.exported, symbol.name);
  }

  // The newest version of the family of `wanted`: "GLIBC_2.36" for "GLIBC_2.38". Numbers compare as
  // numbers: 2.9 is older than 2.36.
  static std::string NewestLike(const std::vector<std::string>& versions,
                                const std::string& wanted) {
    const std::string family = wanted.substr(0, wanted.find('_') + 1);
    std::string newest;
    std::vector<int> newest_key;
    for (const std::string& version : versions) {
      if (family.empty() || !absl::StartsWith(version, family)) continue;
      std::vector<int> key;
      const char* at = version.c_str() + family.size();
      while (*at >= '0' && *at <= '9') {
        char* end;
        key.push_back(static_cast<int>(std::strtol(at, &end, 10)));
        at = *end == '.' ? end + 1 : end;
      }
      if (key < newest_key) continue;
      newest = version;
      newest_key = std::move(key);
    }
    return newest;
  }

  const LibrarySearch search_;
  std::deque<Library> libraries_;  // its elements stay where they are
  LinkReport report_;
};

// The project that likely defines names with a prefix.
struct Family {
  std::string_view prefix, owner;
};

// By the names themselves; the first prefix that fits counts.
constexpr Family kC[] = {
    {"TF_", "TensorFlow's C library"},
    {"TFE_", "TensorFlow's C library"},
    {"TSL_", "TensorFlow's C library"},
    {"TP_", "TensorFlow's C library"},
    {"Py", "Python"},
    {"_Py", "Python"},
    {"AbslInternal", "Abseil"},
    {"__asan_", "the address sanitizer's runtime"},
    {"__tsan_", "the thread sanitizer's runtime"},
    {"__ubsan_", "the undefined-behaviour sanitizer's runtime"},
    {"dnnl_", "libdnnl.so"},
    {"omp_", "OpenMP (libgomp.so.1 or libiomp5.so)"},
    {"GOMP_", "OpenMP (libgomp.so.1)"},
    {"__kmpc_", "OpenMP (libiomp5.so)"},
    {"cuda", "CUDA"},
    {"cudnn", "cuDNN"},
    {"cublas", "cuBLAS"},
    {"hip", "ROCm"},
    {"ze", "Level Zero (libze_loader.so.1)"},
    {"mkl_", "MKL"},
};

// By the namespaces of demangled names.
constexpr Family kCxx[] = {
    {"tensorflow::", "TensorFlow's C++ library (libtensorflow_cc.so.2)"},
    {"tsl::", "TensorFlow's C++ library (libtensorflow_framework.so.2)"},
    {"xla::", "TensorFlow's C++ library (libtensorflow_cc.so.2)"},
    {"stream_executor::", "TensorFlow's C++ library (libtensorflow_cc.so.2)"},
    {"absl::", "Abseil"},
    {"google::protobuf::", "protobuf"},
    {"sycl::", "SYCL (libsycl.so)"},
    {"dnnl::", "oneDNN"},
    {"std::", "libstdc++.so.6"},
    {"__cxxabiv1::", "libstdc++.so.6"},
};

}  // namespace

std::string LikelyOwner(const ElfSymbol& symbol) {
  if (!symbol.library.empty()) return symbol.library;
  if (!absl::StartsWith(symbol.name, "_Z")) {
    for (const Family& family : kC) {
      if (absl::StartsWith(symbol.name, family.prefix)) return std::string(family.owner);
    }
    return "";
  }
  // The first namespace in the name decides; namespaces of arguments do not count.
  const std::string whole = Demangled(symbol.name);
  const std::string_view readable = std::string_view(whole).substr(0, whole.find('('));
  size_t first = std::string_view::npos;
  std::string_view owner;
  for (const Family& family : kCxx) {
    const size_t at = readable.find(family.prefix);
    if (at >= first) continue;
    first = at;
    owner = family.owner;
  }
  return std::string(owner);
}

absl::StatusOr<LinkReport> CheckLinks(const std::string& path) {
  PrepareForPlugins();
  return Checker().Run(path);
}

}  // namespace tenon
