// Opens plug-ins and publishes what they register.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"

namespace tenon {

class PluginProfiler;  // plugin/host/loading/profiler.h

// The size of a struct that a plug-in filled in, against that of this host's headers.
struct StructSize {
  const char* name;  // "SP_Platform"
  size_t size;       // as the plug-in left it; it found the host's there
  size_t host_size;  // *_STRUCT_SIZE of our headers
};

// The part of a plug-in's ledger (plugin_ledger.h) that reports show. For a plug-in that did not
// load it has path, status, entry points and warnings.
struct PluginInfo {
  std::string path;                       // canonical
  absl::Status status;                    // why it did not load
  std::vector<std::string> entry_points;  // those it exports, in call order
  std::string device_type;                // of SE_InitPlugin; empty if none
  std::vector<std::string> ops;           // names
  int kernels = 0;
  bool pass = false;
  bool profiler = false;
  int device_count = 0;               // only Plugins() asks for it
  std::vector<StructSize> structs;    // that it filled in
  bool resident = false;              // its library is never unmapped
  std::vector<std::string> warnings;  // what a person should know although it loaded
  std::vector<std::string> doubts;    // kernels that no node can use; only Plugins() looks for them
  std::vector<std::string> notes;     // what went as it should
};

// How a plug-in is to be loaded.
struct PluginOptions {
  int priority = 0;         // its kernels go before those of plug-ins with a lower one
  std::string device_type;  // the name for its device type here, "GPU@vendor"; empty: its own
};

// Loads a plug-in: dlopen(RTLD_NOW | RTLD_LOCAL), then SE_InitPlugin, TF_InitKernel, TF_InitGraph,
// TF_InitProfiler in this order, all optional. Everything is staged and published at once: a
// plug-in that fails leaves nothing registered. The same canonical path again is the same plug-in.
// NOT_FOUND with the loader's text when the file cannot be opened; else the plug-in's own status.
// Every error starts with the path and says which call failed. Thread-safe; no lock is held while
// the plug-in's code runs.
// `options` count at the first load only.
absl::StatusOr<PluginInfo> LoadPlugin(const std::string& path, const PluginOptions& options = {});

// Takes everything of a plug-in out again, destroys its devices and platform, and unmaps its
// library unless that is resident. The next LoadPlugin loads it anew; a resident one then gets back
// what its constructors and TF_InitKernel registered, which are not called again. One that failed
// is forgotten. FAILED_PRECONDITION while somebody uses its kernels, pass or profiler, a session
// has its devices, or a tensor is memory of its own; NOT_FOUND if nobody asked for it. No session
// may be made or prepared meanwhile.
absl::Status UnloadPlugin(const std::string& path);

// Every plug-in that was asked for, also the failed ones, in the order of the first request.
std::vector<PluginInfo> Plugins();

// The devices of all loaded plug-ins, created at the first call after their load and kept. Ordinals
// count per type over all plug-ins. A plug-in whose devices cannot be created has failed: its error
// is returned once, nothing of it stays registered, and the next call goes on without it.
absl::StatusOr<std::vector<Device*>> PluginDevices();

// Profilers of all loaded plug-ins.
std::vector<std::shared_ptr<PluginProfiler>> PluginProfilers();

// Destroys the devices of all plug-ins, then their platforms and profilers, in reverse order of
// creation, and takes their kernels, ops and passes out of the registries. No session may exist any
// more. Libraries stay mapped: they may have threads. For the end of a process, and for tests.
void ShutdownPlugins();

// Opens a library of ops and kernels that it registers in its static constructors; calls no entry
// point. The ops' names. The same path again: the same answer.
absl::StatusOr<std::vector<std::string>> LoadOpLibrary(const std::string& path);

}  // namespace tenon
