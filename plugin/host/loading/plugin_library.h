// The libraries of plug-ins in this process: each is opened once per real path, and closed only
// when its plug-in is unloaded.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/host/loading/load_scope.h"

namespace tenon {

struct PluginLibrary {
  void* handle = nullptr;
  // It stays mapped for good: it, or a library that came with it, has symbols that the system keeps
  // (STB_GNU_UNIQUE), or came with others and its constructors registered something, which would be
  // lost if another plug-in kept one of those mapped. Its constructors never run again.
  bool resident = false;
  bool kernels_registered = false;  // by TF_InitKernel, which is called once while it is mapped
};

// Opens the library, or finds it open. `scope` then holds what its constructors register, and
// TF_InitKernel where that was called, also if that was in an earlier load. FAILED_PRECONDITION
// where it, or a library that it needs, is built with a sanitizer whose runtime this process lacks:
// opening it would end the process. NOT_FOUND with the loader's text, and who needs the library
// that is nowhere.
absl::StatusOr<PluginLibrary> OpenPluginLibrary(const std::string& path, LoadScope& scope);

// TF_InitKernel has been called: `scope` holds all that the library registers.
void KernelsRegistered(const std::string& path, const LoadScope& scope);

// Unmaps it, if it can be. Nothing may point into it any more.
void ClosePluginLibrary(const std::string& path);

}  // namespace tenon
