#include "plugin/host/loading/loader.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "absl/base/call_once.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/float_mode.h"
#include "graph/c_api/plugin_hold.h"
#include "graph/op_defs/op_registry.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/host/devices/pluggable_device.h"
#include "plugin/host/devices/stream_executor.h"
#include "plugin/host/link/shared_library.h"
#include "plugin/host/loading/load_scope.h"
#include "plugin/host/loading/plugin_library.h"
#include "plugin/host/loading/profiler.h"
#include "plugin/host/loading/registration_checks.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/kernels.h"

namespace tenon {
namespace {

// The entry points of a plug-in, in call order.
struct EntryPoints {
  decltype(SE_InitPlugin)* se_init = nullptr;
  decltype(TF_InitKernel)* init_kernel = nullptr;
  decltype(TF_InitGraph)* init_graph = nullptr;
  decltype(TF_InitProfiler)* init_profiler = nullptr;
};

// One plug-in that somebody asked for.
struct Plugin {
  PluginInfo info;
  bool busy = true;  // being loaded or unloaded
  std::shared_ptr<StreamExecutorPlatform> platform;
  std::shared_ptr<PluginProfiler> profiler;
  bool devices_created = false;
};

// One that was opened for its ops alone.
struct OpLibrary {
  absl::once_flag once;
  absl::StatusOr<std::vector<std::string>> ops;
};

class Loader {
 public:
  static Loader& Global() {
    static Loader* const loader = new Loader;
    return *loader;
  }
  absl::StatusOr<PluginInfo> Load(const std::string& path, const PluginOptions& options);
  absl::Status Unload(const std::string& path);
  std::vector<PluginInfo> List();
  absl::StatusOr<std::vector<Device*>> Devices();
  std::vector<std::shared_ptr<PluginProfiler>> Profilers();
  void Shutdown();
  absl::StatusOr<std::vector<std::string>> LoadOps(const std::string& path);

 private:
  Plugin* Find(const std::string& path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Open(const std::string& path, const PluginOptions& options, Plugin* result);
  void WarnOfRivals(Plugin* plugin) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int NextOrdinal(std::string_view type) ABSL_EXCLUSIVE_LOCKS_REQUIRED(devices_mutex_);
  void Fail(Plugin* plugin, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Plugin>> plugins_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::shared_ptr<OpLibrary>> op_libraries_
      ABSL_GUARDED_BY(mutex_);

  // Held while devices are created, counted and destroyed; taken before mutex_.
  absl::Mutex devices_mutex_;
  std::vector<std::unique_ptr<Device>> devices_ ABSL_GUARDED_BY(devices_mutex_);
};

EntryPoints FindEntryPoints(void* handle, PluginInfo* info) {
  EntryPoints entries;
  const auto find = [&](const char* name, auto** fn) {
    *fn = FindFunction<std::remove_pointer_t<std::remove_pointer_t<decltype(fn)>>>(handle, name);
    if (*fn != nullptr) info->entry_points.push_back(name);
  };
  find("SE_InitPlugin", &entries.se_init);
  void (*next_device)() = nullptr;
  find("TFNPD_InitPlugin", &next_device);
  if (next_device != nullptr)
    info->warnings.push_back(
        "TFNPD_InitPlugin is not called: this host has no NextPluggableDevice");
  find("TF_InitKernel", &entries.init_kernel);
  find("TF_InitGraph", &entries.init_graph);
  find("TF_InitProfiler", &entries.init_profiler);
  void (*pjrt)() = nullptr;
  find("GetPjrtApi", &pjrt);
  if (pjrt != nullptr)
    info->warnings.push_back("GetPjrtApi is not called: this host has no PJRT devices");
  return entries;
}

absl::Status Prefixed(const absl::Status& status, std::string_view path, std::string_view call) {
  if (status.ok()) return status;
  return Annotate(status, absl::StrCat("plug-in ", path, ": ", call, ": "));
}

// What the entry points brought, not yet published.
struct Staged {
  std::shared_ptr<StreamExecutorPlatform> platform;
  std::optional<PluginOptimizer> optimizer;
  std::shared_ptr<PluginProfiler> profiler;
};

// A library that stays mapped keeps what its TF_InitKernel made, and may not stand a second call
// (Intel's ends the process).
absl::Status CallInitKernel(void (*init)(), const PluginLibrary& library, const std::string& path,
                            const LoadScope& scope) {
  if (init == nullptr || library.kernels_registered) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(
      Prefixed(CallPlugin(path.c_str(), "TF_InitKernel", "", init), path, "TF_InitKernel"));
  KernelsRegistered(path, scope);
  return absl::OkStatus();
}

absl::StatusOr<Staged> CallEntryPoints(const EntryPoints& entries, const PluginLibrary& library,
                                       const std::string& path, const LoadScope& scope) {
  const FloatModeGuard float_mode(path);
  Staged staged;
  if (entries.se_init != nullptr) {
    absl::StatusOr<std::shared_ptr<StreamExecutorPlatform>> platform =
        InitStreamExecutorPlugin(entries.se_init, path);
    if (!platform.ok()) return Prefixed(platform.status(), path, "SE_InitPlugin");
    staged.platform = *std::move(platform);
  }
  TENON_RETURN_IF_ERROR(CallInitKernel(entries.init_kernel, library, path, scope));
  if (entries.init_graph != nullptr) {
    absl::StatusOr<PluginOptimizer> optimizer = InitPluginOptimizer(entries.init_graph, path);
    if (!optimizer.ok()) return Prefixed(optimizer.status(), path, "TF_InitGraph");
    staged.optimizer = *std::move(optimizer);
  }
  if (entries.init_profiler != nullptr) {
    absl::StatusOr<std::shared_ptr<PluginProfiler>> profiler =
        PluginProfiler::Init(entries.init_profiler, path);
    if (!profiler.ok()) return Prefixed(profiler.status(), path, "TF_InitProfiler");
    staged.profiler = *std::move(profiler);
  }
  return staged;
}

// Renames what belongs to the plug-in's own device type.
absl::Status ServeAs(const std::string& type, Staged& staged, const std::string& path) {
  if (type.empty()) return absl::OkStatus();
  if (staged.platform == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("plug-in ", path, ": it brings no devices that could be named ", type));
  }
  if (staged.optimizer && staged.optimizer->device_type == staged.platform->type())
    staged.optimizer->device_type = type;
  staged.platform->ServeAs(type);
  return absl::OkStatus();
}

// The pass first: it is easily taken out again when an op is refused.
absl::Status Publish(Staged& staged, const PluginOptions& options, LoadScope& scope,
                     const std::string& path) {
  PublishOptions publish;
  publish.priority = options.priority;
  publish.serve_as = options.device_type;
  if (staged.platform != nullptr) publish.device_type = staged.platform->type();
  TENON_RETURN_IF_ERROR(ServeAs(options.device_type, staged, path));
  if (staged.optimizer) {
    TENON_RETURN_IF_ERROR(
        Prefixed(RegisterPluginOptimizer(*staged.optimizer), path, "TF_InitGraph"));
  }
  const absl::Status published = scope.Publish(publish);
  if (!published.ok()) RemovePluginOptimizers(path);
  return Prefixed(published, path, "registration of ops");
}

// Whether somebody still uses what is withdrawn.
bool Withdraw(const PluginInfo& info) {
  const bool pass = RemovePluginOptimizers(info.path);
  const bool kernels = KernelRegistry::Global().RemovePlugin(info.path);
  for (const std::string& op : info.ops) OpRegistry::Global().Remove(op);
  return pass || kernels;
}

// Opens the library and runs its code; nothing is registered when it fails. A library that was
// opened stays mapped: it may have started threads.
absl::Status Loader::Open(const std::string& path, const PluginOptions& options, Plugin* result) {
  LoadScope scope(path);
  absl::StatusOr<PluginLibrary> library = OpenPluginLibrary(path, scope);
  if (!library.ok()) return Prefixed(library.status(), path, "dlopen");
  const EntryPoints entries = FindEntryPoints(library->handle, &result->info);
  TENON_ASSIGN_OR_RETURN(Staged staged, CallEntryPoints(entries, *library, path, scope));
  PluginInfo& info = result->info;
  for (const std::string& refused : scope.staged().refused) info.warnings.push_back(refused);
  TENON_RETURN_IF_ERROR(Publish(staged, options, scope, path));
  info.resident = library->resident;
  info.ops = scope.op_names();
  info.kernels = scope.num_kernels();
  info.notes = KernelRegistry::Global().Precedence(path);
  info.pass = staged.optimizer.has_value();
  info.profiler = staged.profiler != nullptr;
  if (staged.platform != nullptr) info.device_type = staged.platform->type();
  info.structs = StructSizes(staged.platform.get(), staged.optimizer ? &*staged.optimizer : nullptr,
                             staged.profiler.get());
  if (info.entry_points.empty() && info.ops.empty() && info.kernels == 0) {
    info.warnings.push_back("it exports no entry point and registered nothing: is this a plug-in?");
  }
  result->platform = std::move(staged.platform);
  result->profiler = std::move(staged.profiler);
  return absl::OkStatus();
}

// Whoever waits for itself waits for ever.
absl::Status CheckNoLoop(const std::string& path) {
  if (!LoadScope::IsOf(path)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "plug-in ", path, ": asks for its own load while it is being loaded or unloaded"));
}

// By path; else the one whose file has another name (a hard link): the system opens it once only.
Plugin* Loader::Find(const std::string& path) {
  for (const auto& p : plugins_) {
    if (p->info.path == path) return p.get();
  }
  std::error_code no_file;
  for (const auto& p : plugins_) {
    if (p->info.status.code() != absl::StatusCode::kNotFound &&
        std::filesystem::equivalent(p->info.path, path, no_file))
      return p.get();
  }
  return nullptr;
}

void Loader::WarnOfRivals(Plugin* plugin) {
  if (plugin->platform == nullptr) return;
  for (const auto& other : plugins_) {
    if (other.get() == plugin || other->platform == nullptr) continue;
    if (other->platform->type() == plugin->platform->type()) {
      plugin->info.warnings.push_back(
          absl::StrCat("device type ", plugin->platform->type(), " is also that of ",
                       other->info.path, ": this plug-in's devices get the ordinals after its"));
    } else if (other->platform->name() == plugin->platform->name()) {
      plugin->info.warnings.push_back(absl::StrCat("platform name \"", plugin->platform->name(),
                                                   "\" is also that of ", other->info.path));
    }
  }
}

absl::StatusOr<PluginInfo> Loader::Load(const std::string& path, const PluginOptions& options) {
  PrepareForPlugins();
  const std::string canonical = CanonicalPath(path);
  TENON_RETURN_IF_ERROR(CheckNoLoop(canonical));
  Plugin* plugin;
  {
    absl::MutexLock lock(&mutex_);
    const auto settled = [&] {
      mutex_.AssertReaderHeld();
      const Plugin* const now = Find(canonical);  // it may have been unloaded
      return now == nullptr || !now->busy;
    };
    mutex_.Await(absl::Condition(&settled));
    plugin = Find(canonical);
    if (plugin != nullptr) {
      // A file that could not be opened may be there now; what was opened does not get better.
      if (plugin->info.status.code() != absl::StatusCode::kNotFound) {
        if (!plugin->info.status.ok()) return plugin->info.status;
        return plugin->info;
      }
    } else {
      plugin = plugins_.emplace_back(std::make_unique<Plugin>()).get();
    }
    plugin->info = PluginInfo();
    plugin->info.path = canonical;
    plugin->busy = true;
  }
  Plugin loaded;
  loaded.info.path = canonical;
  loaded.info.status = Open(canonical, options, &loaded);
  absl::MutexLock lock(&mutex_);
  plugin->info = std::move(loaded.info);
  plugin->platform = std::move(loaded.platform);
  plugin->profiler = std::move(loaded.profiler);
  plugin->busy = false;
  if (!plugin->info.status.ok()) return plugin->info.status;
  WarnOfRivals(plugin);
  return plugin->info;
}

// What keeps a plug-in from being unloaded, "its kernels are"; empty if nothing does.
std::string_view UserOf(const Plugin& plugin) {
  const std::string& path = plugin.info.path;
  if (plugin.busy) return "its load is";
  if (KernelRegistry::Global().InUse(path)) return "its kernels are";
  if (PluginOptimizersInUse(path)) return "its graph pass is";
  if (plugin.profiler != nullptr && plugin.profiler.use_count() > 1) return "its profiler is";
  if (PluginHold::Any(path)) return "its devices or tensors of its own are";
  return "";
}

absl::Status Loader::Unload(const std::string& path) {
  const std::string canonical = CanonicalPath(path);
  absl::MutexLock devices_lock(&devices_mutex_);
  Plugin* plugin;
  std::shared_ptr<StreamExecutorPlatform> platform;
  std::shared_ptr<PluginProfiler> profiler;
  {
    absl::MutexLock lock(&mutex_);
    plugin = Find(canonical);
    if (plugin == nullptr)
      return absl::NotFoundError(absl::StrCat("plug-in ", canonical, " is not loaded"));
    std::string_view user = UserOf(*plugin);
    if (op_libraries_.contains(canonical)) user = "its ops, which TF_LoadLibrary asked for, are";
    if (!user.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("plug-in ", canonical, " cannot be unloaded: ", user, " in use"));
    }
    plugin->busy = true;
    platform = std::move(plugin->platform);
    profiler = std::move(plugin->profiler);
  }
  const LoadScope ending(canonical);
  const bool in_use = Withdraw(plugin->info);  // since the question above
  std::erase_if(devices_, [&](const auto& device) { return device->plugin() == canonical; });
  platform.reset();
  profiler.reset();
  if (!in_use) ClosePluginLibrary(canonical);
  absl::MutexLock lock(&mutex_);
  std::erase_if(plugins_, [plugin](const auto& p) { return p.get() == plugin; });
  return absl::OkStatus();
}

std::vector<PluginInfo> Loader::List() {
  absl::MutexLock devices_lock(&devices_mutex_);
  std::vector<PluginInfo> infos;
  std::vector<std::shared_ptr<StreamExecutorPlatform>> platforms;
  std::set<std::string> device_types = {"CPU", "DEFAULT"};
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& plugin : plugins_) {
      if (plugin->busy) continue;
      infos.push_back(plugin->info);
      platforms.push_back(plugin->platform);
      if (plugin->platform != nullptr) device_types.insert(plugin->platform->type());
    }
  }
  for (size_t i = 0; i < infos.size(); ++i) {
    infos[i].doubts = DoubtfulKernels(infos[i].path, device_types);
    if (platforms[i] == nullptr) continue;
    std::string why;
    infos[i].device_count = platforms[i]->DeviceCount(&why);
    if (!why.empty()) infos[i].warnings.push_back(std::move(why));
  }
  return infos;
}

// Ordinal 0 of the type CPU is the host's own.
int Loader::NextOrdinal(std::string_view type) {
  int next = type == "CPU" ? 1 : 0;
  for (const auto& device : devices_) {
    if (device->type() == type) next = std::max(next, device->ordinal() + 1);
  }
  return next;
}

// Its library stays mapped, as after a load that fails.
void Loader::Fail(Plugin* plugin, const absl::Status& status) {
  Plugin failed;
  failed.busy = false;
  failed.info.path = plugin->info.path;
  failed.info.entry_points = plugin->info.entry_points;
  failed.info.status = status;
  {
    absl::MutexLock lock(&mutex_);
    std::swap(*plugin, failed);
  }
  Withdraw(failed.info);
}

absl::StatusOr<std::vector<Device*>> Loader::Devices() {
  absl::MutexLock devices_lock(&devices_mutex_);
  std::vector<Plugin*> fresh;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& plugin : plugins_) {
      if (plugin->platform != nullptr && !plugin->devices_created) fresh.push_back(plugin.get());
    }
  }
  for (Plugin* plugin : fresh) {
    auto created = CreatePluggableDevices(plugin->platform, NextOrdinal(plugin->platform->type()));
    if (!created.ok()) {
      Fail(plugin, created.status());
      return created.status();
    }
    for (auto& device : *created) devices_.push_back(std::move(device));
    plugin->devices_created = true;
  }
  std::vector<Device*> devices;
  for (const auto& device : devices_) devices.push_back(device.get());
  return devices;
}

std::vector<std::shared_ptr<PluginProfiler>> Loader::Profilers() {
  absl::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<PluginProfiler>> profilers;
  for (const auto& plugin : plugins_) {
    if (plugin->profiler != nullptr) profilers.push_back(plugin->profiler);
  }
  return profilers;
}

void Loader::Shutdown() {
  absl::MutexLock devices_lock(&devices_mutex_);
  while (!devices_.empty()) devices_.pop_back();
  std::vector<std::unique_ptr<Plugin>> plugins;
  {
    absl::MutexLock lock(&mutex_);
    plugins.swap(plugins_);
  }
  while (!plugins.empty()) {
    if (plugins.back()->info.status.ok()) Withdraw(plugins.back()->info);
    plugins.pop_back();
  }
}

absl::StatusOr<std::vector<std::string>> OpenOps(const std::string& path) {
  LoadScope scope(path);
  TENON_RETURN_IF_ERROR(OpenLibrary(path).status());
  TENON_RETURN_IF_ERROR(scope.Publish({}));
  return scope.op_names();
}

absl::StatusOr<std::vector<std::string>> Loader::LoadOps(const std::string& path) {
  PrepareForPlugins();
  const std::string canonical = CanonicalPath(path);
  TENON_RETURN_IF_ERROR(CheckNoLoop(canonical));
  std::shared_ptr<OpLibrary> library;
  {
    absl::MutexLock lock(&mutex_);
    std::shared_ptr<OpLibrary>& known = op_libraries_[canonical];
    if (known == nullptr) known = std::make_shared<OpLibrary>();
    library = known;
  }
  absl::call_once(library->once, [&] { library->ops = OpenOps(canonical); });
  if (library->ops.ok()) return library->ops;
  absl::MutexLock lock(&mutex_);  // the next one may try again
  const auto it = op_libraries_.find(canonical);
  if (it != op_libraries_.end() && it->second == library) op_libraries_.erase(it);
  return library->ops;
}

}  // namespace

absl::StatusOr<PluginInfo> LoadPlugin(const std::string& path, const PluginOptions& options) {
  return Loader::Global().Load(path, options);
}
absl::Status UnloadPlugin(const std::string& path) { return Loader::Global().Unload(path); }
std::vector<PluginInfo> Plugins() { return Loader::Global().List(); }
absl::StatusOr<std::vector<Device*>> PluginDevices() { return Loader::Global().Devices(); }
std::vector<std::shared_ptr<PluginProfiler>> PluginProfilers() {
  return Loader::Global().Profilers();
}
void ShutdownPlugins() { Loader::Global().Shutdown(); }
absl::StatusOr<std::vector<std::string>> LoadOpLibrary(const std::string& path) {
  return Loader::Global().LoadOps(path);
}

}  // namespace tenon
