// The process's eager context, its devices and its random seed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/error.h"
#include "tenon/internal/own.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api.h"

namespace tenon::inline v0 {

// A device that ops may run on.
struct DeviceInfo {
  std::string name;  // "/job:localhost/replica:0/task:0/device:CPU:0"
  std::string type;  // "CPU"
  int64_t memory_bytes = 0;
};

namespace internal {

// Made once, and never deleted: tensors may live as long as the process. The context is made when
// the first tensor or op needs it.
struct Process {
  std::mutex mutex;
  std::atomic<TFE_Context*> context{nullptr};
  std::atomic<bool> has_seed{false};
  std::atomic<int64_t> seed{0};
  std::atomic<int64_t> eager_ops_with_seed{0};
  std::atomic<int64_t> names{0};  // of functions and variables: the last number given
};

inline Process& GetProcess() {
  static Process* const process = new Process;
  return *process;
}

// Makes the context, unless another thread has made it. Throws if a device cannot be made.
[[gnu::cold]] inline TFE_Context* MakeContext() {
  Process& process = GetProcess();
  const std::lock_guard lock(process.mutex);
  TFE_Context* context = process.context.load(std::memory_order_relaxed);
  if (context != nullptr) return context;
  TFE_ContextOptions* const options = TFE_NewContextOptions();
  // Tensors are copied to the device where an op runs.
  TFE_ContextOptionsSetDevicePlacementPolicy(options, TFE_DEVICE_PLACEMENT_SILENT);
  TF_Status* const status = ThreadStatus();
  context = TFE_NewContext(options, status);
  TFE_DeleteContextOptions(options);
  Check(status);
  process.context.store(context, std::memory_order_release);
  return context;
}

// The context of the process, which the first call makes. Thread-safe. Throws as MakeContext.
inline TFE_Context* Context() {
  static Process& process = GetProcess();
  TFE_Context* const context = process.context.load(std::memory_order_acquire);
  return context != nullptr ? context : MakeContext();
}

// Another number at each call, for the names of functions and variables: 1, 2 …
inline int64_t NextNumber() {
  return GetProcess().names.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace internal

// The devices that ops may run on. Makes the eager context: load plug-ins before.
inline std::vector<DeviceInfo> ListDevices() {
  TF_Status* const status = internal::ThreadStatus();
  TF_DeviceList* const list = TFE_ContextListDevices(internal::Context(), status);
  internal::Check(status);
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < TF_DeviceListCount(list); ++i) {
    DeviceInfo device;
    device.name = TF_DeviceListName(list, i, status);
    device.type = TF_DeviceListType(list, i, status);
    device.memory_bytes = TF_DeviceListMemoryBytes(list, i, status);
    devices.push_back(std::move(device));
  }
  TF_DeleteDeviceList(list);
  return devices;
}

namespace internal {

// "GPU:7" of "/job:localhost/device:GPU:7"; empty for a name that says no type.
inline std::string_view TypeAndNumber(std::string_view device) {
  const size_t begin = device.rfind("device:");
  return begin == std::string_view::npos ? std::string_view()
                                         : device.substr(begin + sizeof "device:" - 1);
}

// Whether there is a device of the type and number in the name; the number may be '*' or left out.
// Job, replica and task are not looked at. True for a name without "device:".
inline bool HasDevice(const std::string& name) {
  const std::string_view wanted = TypeAndNumber(name);
  if (wanted.empty()) return true;
  const size_t colon = wanted.find(':');
  const std::string_view type = wanted.substr(0, colon);
  const bool any_number = colon == std::string_view::npos || wanted.substr(colon) == ":*";
  for (const DeviceInfo& device : ListDevices()) {
    const std::string_view there = TypeAndNumber(device.name);
    if (any_number ? there.substr(0, there.find(':')) == type : there == wanted) return true;
  }
  return false;
}

}  // namespace internal

// Loads a plug-in with devices, kernels, ops or a graph pass, for as long as the process lives.
// FAILED_PRECONDITION after the first tensor, op or ListDevices() of the process: devices are made
// with the eager context. Other errors are those of TF_LoadPluggableDeviceLibrary, NOT_FOUND for a
// file that cannot be opened among them. `options` are those that graph_run's --plugin takes after
// the path: "as=GPU;memory_mb=64" (TENON_LoadPlugin). UNIMPLEMENTED for options on a library other
// than Tenon.
inline void LoadPlugin(const std::string& path, const std::string& options = {},
                       Where where = Where::current()) {
  if (internal::GetProcess().context.load() != nullptr) {
    internal::Throw(TF_FAILED_PRECONDITION,
                    "LoadPlugin(\"" + path +
                        "\") comes after the first tensor, op or ListDevices()"
                        " of the program: load plug-ins before these",
                    where);
  }
  TF_Status* const status = internal::ThreadStatus();
  if (!options.empty()) {
    internal::NeedTenon(TENON_LoadPlugin, "A plug-in with options", where);
    TENON_LoadPlugin((path + ";" + options).c_str(), status);
    return internal::Check(status, where);
  }
  TF_Library* const library = TF_LoadPluggableDeviceLibrary(path.c_str(), status);
  internal::Check(status, where);
  TF_DeletePluggableDeviceLibraryHandle(library);
}

// Sets the seed of ops that draw random numbers and name no seed of their own. From then on the
// numbers of a program are the same each time it runs, as with tf.random.set_seed.
inline void SetSeed(int64_t seed) {
  internal::Process& process = internal::GetProcess();
  process.seed = seed;
  process.eager_ops_with_seed = 0;
  process.has_seed = true;
  // A kernel that draws goes on where it stopped: the next draw gets a new one.
  if (TFE_Context* const context = process.context.load()) TFE_ContextClearCaches(context);
}

// The version of the TensorFlow release whose API the library that runs the program follows.
inline std::string Version() { return TF_Version(); }

}  // namespace tenon::inline v0
