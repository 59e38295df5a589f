// Opens the library of decompositions. It lies in the folder tenon/ beside libtenon; beside a
// program that holds libtenon's code itself, as tests do, in ../lib/tenon/.
#include "plugin/cpu/linalg/matrix_library_loader.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace tenon::cpu {
namespace {

constexpr char kFile[] = "libtenon_linalg.so";

const MatrixLibrary* opened = nullptr;

// The folder of the library or program that this code is part of, without links; "" if it is
// unknown.
std::filesystem::path OwnFolder() {
  Dl_info info;
  std::error_code error;
  std::filesystem::path self;
  if (dladdr(reinterpret_cast<void*>(&OpenMatrixLibrary), &info) != 0 && info.dli_fname != nullptr)
    self = std::filesystem::canonical(info.dli_fname, error);
  // A program's own name need not be a path.
  if (self.empty() || error) self = std::filesystem::canonical("/proc/self/exe", error);
  return error ? std::filesystem::path() : self.parent_path();
}

absl::Status Open() {
  const std::filesystem::path folder = OwnFolder();
  std::string path = (folder / "tenon" / kFile).string();
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    path = (folder.parent_path() / "lib" / "tenon" / kFile).string();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "the library of matrix decompositions cannot be opened: ", dlerror(),
        "; it is part of an installation, and a build makes it with the target tenon_linalg"));
  }
  const auto entry = reinterpret_cast<MatrixLibraryEntry>(dlsym(library, kMatrixLibraryEntry));
  const MatrixLibrary* table = entry == nullptr ? nullptr : entry(sizeof(MatrixLibrary));
  if (table == nullptr) {
    dlclose(library);
    return absl::NotFoundError(
        absl::StrCat(path, " is not the library of matrix decompositions of this version"));
  }
  opened = table;
  return absl::OkStatus();
}

}  // namespace

absl::Status OpenMatrixLibrary() {
  // Never destroyed: kernels may outlive static objects.
  static const absl::Status* const status = new absl::Status(Open());
  return *status;
}

const MatrixLibrary& OpenedMatrixLibrary() { return *opened; }

}  // namespace tenon::cpu
