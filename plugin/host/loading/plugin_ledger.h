// The record of everything that one plug-in brings into the process. Each registration through the
// C interface is entered in the ledger of the plug-in that is being loaded on the thread. DropAll
// takes back exactly the entries of one ledger. Private to plugin/.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "graph/op_defs/op_def.h"
#include "plugin/host/loading/loader.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

class NextPluggablePlatform;   // plugin/host/devices/next_pluggable_platform.h
class StreamExecutorPlatform;  // plugin/host/devices/stream_executor.h

// Registrations as a plug-in made them. The registries of the process have none of these objects:
// Publish enters copies.
struct Registrations {
  std::vector<std::shared_ptr<const KernelDef>> kernels;
  std::vector<OpDef> ops;
  std::vector<std::string> refused;  // one sentence for each registration that failed
};

// The shared library of a plug-in. It may stay mapped when the plug-in is unloaded.
struct PluginLibrary {
  void* handle = nullptr;  // null: not open
  // The library stays mapped for good, and its constructors never run again. That is so where the
  // library, or one that came with it, has symbols that the system keeps (STB_GNU_UNIQUE), and for
  // a plug-in of which `next` has a client. It is also so where other libraries came with it and a
  // constructor registered something: another plug-in may keep one of those mapped, and the
  // registration would be lost.
  bool resident = false;
  // TF_InitKernel has succeeded. It is not called again while the library is mapped.
  bool kernels_registered = false;
  Registrations registrations;  // by its constructors and TF_InitKernel, for the next load too
};

// One plug-in, or one library that was opened for its ops alone. The loader owns all ledgers.
struct PluginLedger {
  explicit PluginLedger(std::string canonical_path) : path(std::move(canonical_path)) {}

  const std::string path;
  bool ops_only = false;  // opened by LoadOpLibrary
  // A thread is loading, unloading or dropping the plug-in. Until that ends, no other thread
  // touches the members below, but for `waits_for`. The loader's lock guards this one.
  bool busy = false;
  // The plug-in that the thread waits for, or loads, on behalf of this busy one; null if none. The
  // loader's lock guards it.
  const PluginLedger* waits_for = nullptr;
  // The facts for reports. `ops`, `kernels` and `pass` are the plug-in's entries in the registries
  // of the process.
  PluginInfo info;
  PluginLibrary library;
  Registrations staged;  // made in this load or unload, and not published yet
  std::shared_ptr<StreamExecutorPlatform> platform;
  std::shared_ptr<NextPluggablePlatform> next;
  std::shared_ptr<pjrt::Plugin> pjrt;  // null if it has one of the two
  std::shared_ptr<PluginProfiler> profiler;
  bool devices_created = false;
  std::vector<std::unique_ptr<Device>> devices;
};

// How the kernels of a plug-in are to appear.
struct PublishOptions {
  std::set<std::string> device_types;  // of the devices that the plug-in brings
  std::string serve_as;                // another name for those types; empty: their own
  int priority = 0;                    // among plug-ins
};

// Publishes the staged registrations: enters ops, then kernels, in the registries of the process,
// and clears `staged`. If an op is refused, returns the error and publishes no more; `info` then
// has the entries that were made, and the caller calls DropAll.
absl::Status Publish(PluginLedger& ledger, const PublishOptions& options);

// Returns a reason not to unload the plug-in, for a text that goes on with " in use": "its kernels
// are"; empty if there is none. The caller holds the loader's lock.
std::string_view UserOf(const PluginLedger& ledger);

// Takes pass, kernels and ops out of the registries, clears `staged`, and destroys devices, then
// profiler, then platform; a profiler that somebody shares lives on. The ledger keeps its library
// and, for reports, path, entry points and warnings, but no status. Returns whether somebody still
// uses a kernel, the pass or host memory of its devices, so that the library must stay mapped.
// Calls the plug-in.
bool DropAll(PluginLedger& ledger);

// Makes this the ledger in which the thread's registrations are entered, for the lifetime of the
// scope. Scopes nest: a plug-in may load another library.
class LoadScope {
 public:
  explicit LoadScope(PluginLedger& ledger);
  ~LoadScope();
  LoadScope(const LoadScope&) = delete;
  LoadScope& operator=(const LoadScope&) = delete;

  // The ledger of the innermost scope of this thread, or null.
  static PluginLedger* Current();
  // Whether the thread is in a scope, perhaps an outer one, of the plug-in (its canonical path).
  static bool IsOf(std::string_view plugin);

 private:
  PluginLedger* const ledger_;
  LoadScope* const outer_;
};

// Registers a kernel or an op: in a LoadScope it is staged, else it is published and belongs to no
// plug-in. RegisterOp returns ALREADY_EXISTS "Op with name X" if an op of the name is staged in the
// ledger or published. Another load may still take the name before Publish; outside of a LoadScope
// the errors are those of OpRegistry::Register.
void RegisterKernel(std::shared_ptr<KernelDef> kernel);
absl::Status RegisterOp(OpDef op);
// Notes in the current ledger that the registration of `what` failed: few plug-ins look at the
// status that they get. Does nothing outside of a LoadScope.
void NoteRefused(std::string_view what, const absl::Status& why);

}  // namespace tenon
