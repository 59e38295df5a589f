// Loads and unloads plug-ins, and lists them. All functions but ShutdownPlugins are thread-safe.
// None holds a lock that another load needs while the code of a plug-in runs. UnloadPlugin,
// Plugins, PluginDevices and ShutdownPlugins share a lock that they do hold then: code of a plug-in
// that one of them runs must call none of the four.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"
#include "plugin/pjrt/plugin.h"

namespace tenon {

class PluginProfiler;  // plugin/host/loading/profiler.h

// The size of a struct that a plug-in filled in, against that of this host's headers.
struct StructSize {
  const char* name;  // "SP_Platform"
  size_t size;       // as the plug-in left it; at first PresetStructSize(host_size)
  size_t host_size;  // *_STRUCT_SIZE of our headers
};

// The interface by which a plug-in's devices are used.
enum class DeviceKind : uint8_t {
  kNone,           // it brings no devices
  kPluggable,      // SE_InitPlugin: streams, and kernels for single nodes
  kNextPluggable,  // TFNPD_InitPlugin
  kPjrt,           // GetPjrtApi alone: compiled programs
};
// "", "pluggable", "next_pluggable", "pjrt".
std::string_view DeviceKindName(DeviceKind kind);

// What TFNPD_InitPlugin says.
struct NextPluggableFacts {
  std::string device_type;          // PluginOptions::device_type instead, if that is set
  std::string compilation_device;   // XLA's name of the compiler device: "XLA_GPU_JIT"
  int priority = 0;                 // of the device type
  bool is_pluggable = false;        // it copies within a device by a function of its own
  bool compiles_on_demand = false;  // ops without a kernel are to be compiled
};

// The part of a plug-in's ledger (plugin_ledger.h) that reports show. For a plug-in that failed it
// has path, status, entry points and warnings.
struct PluginInfo {
  std::string path;                       // canonical
  absl::Status status;                    // why it or its devices could not be made; else OK
  std::vector<std::string> entry_points;  // that it exports, also those that Tenon does not call
  // Of PluginOptions, else of SE_InitPlugin or TFNPD_InitPlugin (of both: the one with devices),
  // else of a PJRT client once there is one; else empty.
  std::string device_type;
  DeviceKind kind = DeviceKind::kNone;
  std::optional<NextPluggableFacts> next;  // of a plug-in that exports TFNPD_InitPlugin
  std::optional<pjrt::PluginFacts> pjrt;   // of one whose GetPjrtApi is in use
  std::vector<std::string> ops;            // names of registered ops
  int kernels = 0;                         // number of registered kernels
  bool pass = false;                       // it has a graph pass
  bool profiler = false;                   // it has a profiler
  int device_count = 0;                    // only Plugins() asks for it
  std::vector<StructSize> structs;         // that it filled in
  bool resident = false;                   // its library is never unmapped
  std::vector<std::string> warnings;       // faults that did not keep the plug-in from being loaded
  std::vector<std::string> doubts;         // of DoubtfulKernels; only Plugins() looks for them
  std::vector<std::string> notes;          // facts that are no faults
};

// The user's options for a plug-in.
struct PluginOptions {
  // Of two plug-ins' kernels with the same priority, the kernel of the plug-in with the higher
  // number serves.
  int priority = 0;
  // The name of the plug-in's device type in this process, "GPU@vendor"; empty: the plug-in's own.
  std::string device_type;
  std::vector<pjrt::ClientOption> client_options;  // for PJRT clients that the host makes
};

// Loads a plug-in: dlopen(RTLD_NOW | RTLD_LOCAL), then SE_InitPlugin, TFNPD_InitPlugin (followed by
// GetPjrtApi and PJRT_Plugin_Initialize), TF_InitKernel, TF_InitGraph and TF_InitProfiler in this
// order, each only if the library exports it. Then, of a library without the first two, GetPjrtApi
// and PJRT_Plugin_Initialize. Creates no devices and no client; a NextPluggableDevice plug-in may
// create its client in TF_InitKernel.
// The registrations of the plug-in are staged, and published one after the other at the end: a
// plug-in that fails leaves nothing registered, but a library that was opened stays mapped. A path
// that was loaded before, by its canonical form or another name of the same file, gives
// PluginInfo::status if that is an error, else the info of the first load, with what is known since
// of the plug-in's devices; `options` count at the first load only. After NOT_FOUND, also the
// plug-in's own, the next call loads again. A load or unload of the same plug-in on another thread
// is waited for. Two plug-ins that load each other may be loaded on two threads at once: one of the
// loads within loads then fails.
//
// Errors start with "plug-in PATH: " and say what failed:
//   NOT_FOUND, with the system loader's text, for a file that cannot be opened.
//   FAILED_PRECONDITION for a plug-in that loads itself, whose load waits for a plug-in that this
//   thread is loading, that brings no platform to name `device_type`, or that needs the runtime of
//   a sanitizer which this process lacks.
//   ALREADY_EXISTS if another load has meanwhile taken the name of an op. INVALID_ARGUMENT for an
//   op that states its facts wrongly (StatedFacts).
//   Otherwise an entry point's own status, INTERNAL if it throws, or the error of the check of what
//   it filled in (InitStreamExecutorPlugin, NextPluggablePlatform::Load, InitPluginOptimizer,
//   PluginProfiler::Init).
absl::StatusOr<PluginInfo> LoadPlugin(const std::string& path, const PluginOptions& options = {});

// Unloads a plug-in, also one that failed: takes its registrations back, destroys its devices,
// profiler and platform, and forgets it. Unmaps its library unless that is resident, somebody began
// to use something of it meanwhile, or the process has it open otherwise. The next LoadPlugin
// loads the plug-in anew. One with a library that stayed mapped then gets back the registrations of
// its constructors and of a TF_InitKernel that succeeded, which are not called again. The caller
// must not create or prepare a session meanwhile.
//
// Errors:
//   FAILED_PRECONDITION while the plug-in is being loaded (no wait for that), or something of it is
//   in use: a kernel, the pass, the profiler, the devices by a session, a tensor that a function of
//   the plug-in frees, or ops by TF_LoadLibrary.
//   NOT_FOUND if LoadPlugin was not called for it since it was last unloaded.
absl::Status UnloadPlugin(const std::string& path);

// All plug-ins for which LoadPlugin was called, also failed ones, in the order of the first call
// since they were last unloaded. Leaves out those that are being loaded or unloaded, and libraries
// of LoadOpLibrary. Asks each plug-in for its number of devices; a failure is one of its warnings.
// A plug-in of kind kPjrt is not asked: its devices are counted once they are created.
std::vector<PluginInfo> Plugins();

// The devices of all loaded plug-ins, in the order of Plugins(). Creates those of newly loaded
// plug-ins. The plug-ins own them: a pointer is valid until UnloadPlugin or ShutdownPlugins.
// Ordinals count per type over all plug-ins; those of type "CPU" begin at 1, as the host has 0. A
// plug-in that cannot create its devices has failed: nothing of it stays registered. This
// function returns its error once, without the devices of others; the next call goes on without it.
absl::StatusOr<std::vector<Device*>> PluginDevices();

// The profilers of all loaded plug-ins, in the order of Plugins(). UnloadPlugin refuses a plug-in
// while somebody has its profiler; ShutdownPlugins does not.
std::vector<std::shared_ptr<PluginProfiler>> PluginProfilers();

// Unloads all plug-ins, the last one first, whether they are in use or not, but leaves their
// libraries mapped, since they may have threads. Leaves plug-ins alone that are being loaded, on
// this thread too, and libraries of LoadOpLibrary. No session may exist any more, and no function
// of this header but LoadPlugin may run meanwhile. For the end of a process, and for tests.
void ShutdownPlugins();

// Opens a library for the ops and kernels that its static constructors register, and returns the
// names of the ops. Calls no entry point. If the process has the library mapped already, by
// LoadPlugin or otherwise, its constructors do not run again and no names are returned. For the
// same path the answer is the same; after an error the next call tries again. Such a library is
// never unloaded. Errors: NOT_FOUND, FAILED_PRECONDITION or INVALID_ARGUMENT as for LoadPlugin,
// ALREADY_EXISTS for the name of an op that is taken. They need not name the plug-in.
absl::StatusOr<std::vector<std::string>> LoadOpLibrary(const std::string& path);

}  // namespace tenon
