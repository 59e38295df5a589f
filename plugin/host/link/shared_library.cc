#include "plugin/host/link/shared_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/float_mode.h"
#include "plugin/cpu/onednn/onednn_loader.h"

namespace tenon {
namespace {

// The names under which plug-ins were linked against TensorFlow.
constexpr const char* kShims[] = {"libtensorflow_framework.so.2", "libtensorflow.so.2",
                                  "libtensorflow_cc.so.2", "_pywrap_tensorflow_internal.so"};

// Puts the symbols of the libtenon that this code is part of into the global scope, where a plug-in
// without DT_NEEDED finds them, and maps the libraries with TensorFlow's names in the folder tenon/
// beside it.
void Promote() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&PrepareForPlugins), &info) == 0 || info.dli_fname == nullptr)
    return;
  // The real path: the folder with TensorFlow's names has a link to the library.
  const std::filesystem::path self(CanonicalPath(info.dli_fname));
  if (!absl::StartsWith(self.filename().string(), "libtenon.so")) return;
  // Both handles are kept for the life of the process.
  dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  for (const char* shim : kShims) {
    // Without one, only plug-ins that were linked against it fail, and the loader then says so.
    dlopen((self.parent_path() / "tenon" / shim).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
}

}  // namespace

void PrepareForPlugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    EnsureOneDnn().IgnoreError();  // kernels that need it report its absence
    Promote();
  });
}

bool IsHostLibraryName(std::string_view name) {
  return std::find(std::begin(kShims), std::end(kShims), name) != std::end(kShims);
}

std::string CanonicalPath(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), free);
  return real == nullptr ? path : std::string(real.get());
}

absl::StatusOr<void*> OpenLibrary(const std::string& path) {
  // dlopen would wait for a writer of a pipe.
  struct stat facts;
  if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))
    return absl::NotFoundError(absl::StrCat(path, ": not a file"));
  void* handle = nullptr;
  std::string error;
  // Constructors run: those of libraries built with -ffast-math switch denormals off for the
  // thread.
  const FloatModeGuard float_mode(path);
  TENON_RETURN_IF_ERROR(CallPlugin(path.c_str(), "dlopen", "", [&] {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) error = dlerror();
  }));
  if (handle == nullptr) return absl::NotFoundError(error);
  return handle;
}

void CloseLibrary(const std::string& path, void* handle) {
  WarnOf(CallPlugin(path.c_str(), "dlclose", "", [&] { dlclose(handle); }));
}

void* FindSymbol(void* handle, const char* name) { return dlsym(handle, name); }

}  // namespace tenon
