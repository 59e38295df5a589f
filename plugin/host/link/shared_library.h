// Opens and closes libraries with dlopen, in the way that plug-ins need.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon {

// Prepares the process for plug-ins; later calls do nothing. Three things must be there before a
// plug-in is opened: libtenon's symbols in the global scope (a plug-in without DT_NEEDED finds them
// there), the libraries with TensorFlow's names (in the folder tenon/ beside libtenon), and oneDNN,
// since a plug-in may bring its own. A program that links libtenon statically loads only oneDNN.
// Thread-safe. Says nothing of what cannot be loaded: the kernels or the plug-ins that need it
// report that.
void PrepareForPlugins();

// Whether this is the file name, without a folder, of a library of TensorFlow that libtenon
// replaces: "libtensorflow_framework.so.2".
bool IsHostLibraryName(std::string_view name);

// The file's canonical path; `path` itself if there is no such file. The loader then searches for
// the library, and its error names what is missing.
std::string CanonicalPath(const std::string& path);

// dlopen(RTLD_NOW | RTLD_LOCAL), marked as a call into `path`. Returns a handle for one call of
// CloseLibrary. NOT_FOUND with the loader's text, or for a pipe and the like. An empty path opens
// the program. A constructor that throws ends the process: no exception passes the system's loader.
absl::StatusOr<void*> OpenLibrary(const std::string& path);

// dlclose, marked as a call into `path`, since the library's destructors run. Warns of an
// exception.
void CloseLibrary(const std::string& path, void* handle);

// The function or variable `name` of the library or of a library that it depends on; null if there
// is none.
void* FindSymbol(void* handle, const char* name);
template <typename Fn>
Fn* FindFunction(void* handle, const char* name) {
  return reinterpret_cast<Fn*>(FindSymbol(handle, name));
}

}  // namespace tenon
