// Opens oneDNN at first use and fills the slots through which generated stubs jump. A process
// without the library then loses oneDNN's kernels only, not the whole plug-in.
#include "plugin/cpu/onednn/onednn_loader.h"

#include <dlfcn.h>
#include <dnnl_types.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/isa.h"

// Defined in the generated onednn_stubs.S.
extern "C" {
extern void* tenon_onednn_slots[];
extern const char tenon_onednn_names[];
extern const char tenon_onednn_soname[];
}

namespace tenon {
namespace {

// Functions of the OpenMP library that oneDNN depends on. Null if oneDNN was built without OpenMP.
int (*get_openmp_threads)() = nullptr;
void (*set_openmp_threads)(int) = nullptr;

// Applies TENON_ISA to oneDNN. oneDNN accepts a limit only before its first primitive. Without
// TENON_ISA there is no limit: oneDNN may use newer sets than Isa has.
void LimitIsa(void* set_max_cpu_isa) {
  if (set_max_cpu_isa == nullptr || !cpu::IsaIsLimited()) return;
  reinterpret_cast<dnnl_status_t (*)(dnnl_cpu_isa_t)>(set_max_cpu_isa)(
      cpu::SelectIsa(dnnl_cpu_isa_sse41, dnnl_cpu_isa_avx2, dnnl_cpu_isa_avx512_core));
}

absl::Status Bind() {
  // RTLD_LOCAL keeps oneDNN's symbols away from plug-ins, which may bring another version.
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
  // dlsym on a handle also finds the symbols of the library's dependencies: here OpenMP's.
  get_openmp_threads = reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"));
  set_openmp_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
  LimitIsa(dlsym(library, "dnnl_set_max_cpu_isa"));
  // All slots at once, at the very end: after a failure no stub may reach the library.
  std::copy(found.begin(), found.end(), tenon_onednn_slots);
  return absl::OkStatus();
}

}  // namespace

absl::Status EnsureOneDnn() {
  // Never destroyed: kernels may outlive static objects.
  static const absl::Status* const status = new absl::Status(Bind());
  return *status;
}

OneOpenMpThread::OneOpenMpThread() {
  if (get_openmp_threads == nullptr || set_openmp_threads == nullptr) return;
  before_ = get_openmp_threads();
  // Tiles already run on the workers: threads of OpenMP on top would compete for the same cores.
  if (before_ != 1) set_openmp_threads(1);
}

OneOpenMpThread::~OneOpenMpThread() {
  if (before_ != 1) set_openmp_threads(before_);
}

}  // namespace tenon
