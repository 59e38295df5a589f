// dlopen as plug-ins need it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon {

// Makes everything ready that a plug-in may look for when it is opened: libtenon's symbols in the
// global scope (a plug-in without DT_NEEDED finds them there), the libraries with TensorFlow's
// names beside it, and oneDNN, before the plug-in can bring its own. Once per process; in a program
// that links the library statically only oneDNN.
void PrepareForPlugins();

// Whether a library of this name is one of TensorFlow's that this one stands for.
bool IsHostLibraryName(std::string_view name);

// The file's canonical path; `path` itself if there is no such file (the loader then searches for
// it and says what it misses).
std::string CanonicalPath(const std::string& path);

// dlopen(RTLD_NOW | RTLD_LOCAL), marked as a call into `path`. NOT_FOUND with the loader's text. A
// constructor that throws ends the process: no exception passes the system's loader.
absl::StatusOr<void*> OpenLibrary(const std::string& path);

// dlclose, marked as a call into `path`: destructors run.
void CloseLibrary(const std::string& path, void* handle);

// The function of that name in the library or what it depends on; null if there is none.
template <typename Fn>
Fn* FindFunction(void* handle, const char* name);
void* FindSymbol(void* handle, const char* name);

template <typename Fn>
Fn* FindFunction(void* handle, const char* name) {
  return reinterpret_cast<Fn*>(FindSymbol(handle, name));
}

}  // namespace tenon
