#include "plugin/cpu/onednn_loader.h"

#include <dlfcn.h>

#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

// Defined in the generated onednn_stubs.S.
extern "C" {
extern void* tenon_onednn_slots[];
extern const char tenon_onednn_names[];
extern const char tenon_onednn_soname[];
}

namespace tenon {
namespace {

// Of the OpenMP library that oneDNN brings along; null if it was built without one.
int (*get_openmp_threads)() = nullptr;
void (*set_openmp_threads)(int) = nullptr;

absl::Status Bind() {
  void* library = dlopen(tenon_onednn_soname, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(absl::StrCat("oneDNN cannot be opened: ", dlerror(),
                                            "; install Debian's package libdnnl2"));
  }
  std::vector<void*> found;
  for (const char* name = tenon_onednn_names; *name != '\0'; name += strlen(name) + 1) {
    void* function = dlsym(library, name);
    if (function == nullptr) {
      return absl::NotFoundError(absl::StrCat("oneDNN (", tenon_onednn_soname, ") has no function ",
                                              name, "; it is not the version we were built for"));
    }
    found.push_back(function);
  }
  // A handle's symbols include those of the library's own dependencies.
  get_openmp_threads = reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"));
  set_openmp_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
  memcpy(tenon_onednn_slots, found.data(), found.size() * sizeof(void*));
  return absl::OkStatus();
}

}  // namespace

absl::Status EnsureOneDnn() {
  static const absl::Status* const status = new absl::Status(Bind());
  return *status;
}

OneOpenMpThread::OneOpenMpThread() {
  if (get_openmp_threads == nullptr || set_openmp_threads == nullptr) return;
  before_ = get_openmp_threads();
  if (before_ != 1) set_openmp_threads(1);
}

OneOpenMpThread::~OneOpenMpThread() {
  if (before_ != 1) set_openmp_threads(before_);
}

}  // namespace tenon
