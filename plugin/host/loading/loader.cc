#include "plugin/host/loading/loader.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/float_mode.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/host/devices/pluggable_device.h"
#include "plugin/host/devices/stream_executor.h"
#include "plugin/host/link/shared_library.h"
#include "plugin/host/loading/plugin_ledger.h"
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
  bool has_next_device = false;  // TFNPD_InitPlugin, which is not called
  pjrt::abi::GetApi* get_pjrt_api = nullptr;
};

// Owns the ledgers of the process. A ledger is busy while one thread runs the plug-in's code for
// it; other threads that want the same plug-in wait, all others go on. So plug-ins may load each
// other.
class Loader {
 public:
  static Loader& Global() {
    static Loader* const loader = new Loader;
    return *loader;
  }
  absl::StatusOr<PluginInfo> Load(const std::string& path, const PluginOptions& options,
                                  bool ops_only);
  absl::Status Unload(const std::string& path);
  std::vector<PluginInfo> List();
  absl::StatusOr<std::vector<Device*>> Devices();
  std::vector<std::shared_ptr<PluginProfiler>> Profilers();
  void Shutdown();

 private:
  PluginLedger* Find(const std::string& path, bool ops_only) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  PluginLedger* Add(const std::string& path, bool ops_only) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<PluginLedger*> Settled() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<PluginLedger*> Await(const std::string& path, bool ops_only)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WarnOfSharedNames(PluginLedger& ledger) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CreateDevices(PluginLedger& ledger, absl::Span<PluginLedger* const> all)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(devices_mutex_);
  void KeepLibrary(PluginLedger& ledger) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Held while devices are created, counted and destroyed, so that no loaded plug-in goes
  // meanwhile; taken before mutex_.
  absl::Mutex devices_mutex_;
  absl::Mutex mutex_;
  // All that somebody asked for, in the order of the first request.
  std::vector<std::unique_ptr<PluginLedger>> ledgers_ ABSL_GUARDED_BY(mutex_);
  // By path, the libraries of plug-ins that are gone, where they stayed mapped.
  std::map<std::string, PluginLibrary> mapped_ ABSL_GUARDED_BY(mutex_);
};

// Looks up all entry points before the first is called: the list is reported also if one fails.
EntryPoints FindEntryPoints(void* handle, PluginInfo* info) {
  EntryPoints entries;
  const auto find = [&](const char* name, auto** fn) {
    *fn = FindFunction<std::remove_pointer_t<std::remove_pointer_t<decltype(fn)>>>(handle, name);
    if (*fn != nullptr) info->entry_points.push_back(name);
  };
  find("SE_InitPlugin", &entries.se_init);
  void (*next_device)() = nullptr;
  find("TFNPD_InitPlugin", &next_device);
  entries.has_next_device = next_device != nullptr;
  if (entries.has_next_device)
    info->warnings.push_back(
        "TFNPD_InitPlugin is not called: this host has no NextPluggableDevice");
  find("TF_InitKernel", &entries.init_kernel);
  find("TF_InitGraph", &entries.init_graph);
  find("TF_InitProfiler", &entries.init_profiler);
  find("GetPjrtApi", &entries.get_pjrt_api);
  if (entries.get_pjrt_api != nullptr && entries.se_init != nullptr)
    info->warnings.push_back("GetPjrtApi is not called: SE_InitPlugin brings the devices");
  return entries;
}

absl::Status Prefixed(const absl::Status& status, std::string_view path, std::string_view call) {
  if (status.ok()) return status;
  return Annotate(status, absl::StrCat("plug-in ", path, ": ", call, ": "));
}

// A library that stays mapped keeps what its TF_InitKernel made, and may not stand a second call
// (Intel's ends the process).
absl::Status CallInitKernel(void (*init)(), PluginLedger& ledger) {
  if (init == nullptr || ledger.library.kernels_registered) return absl::OkStatus();
  const std::string& path = ledger.path;
  TENON_RETURN_IF_ERROR(
      Prefixed(CallPlugin(path.c_str(), "TF_InitKernel", "", init), path, "TF_InitKernel"));
  ledger.library.kernels_registered = true;
  ledger.library.registrations = ledger.staged;
  return absl::OkStatus();
}

// Enters what the entry points answer in the ledger. The pass is returned, since it is the only
// answer that is neither staged nor of use before it is registered.
absl::StatusOr<std::optional<PluginOptimizer>> CallEntryPoints(const EntryPoints& entries,
                                                               PluginLedger& ledger) {
  const std::string& path = ledger.path;
  const FloatModeGuard float_mode(path);
  if (entries.se_init != nullptr) {
    auto platform = InitStreamExecutorPlugin(entries.se_init, path);
    if (!platform.ok()) return Prefixed(platform.status(), path, "SE_InitPlugin");
    ledger.platform = *std::move(platform);
  }
  TENON_RETURN_IF_ERROR(CallInitKernel(entries.init_kernel, ledger));
  std::optional<PluginOptimizer> pass;
  if (entries.init_graph != nullptr) {
    absl::StatusOr<PluginOptimizer> optimizer = InitPluginOptimizer(entries.init_graph, path);
    if (!optimizer.ok()) return Prefixed(optimizer.status(), path, "TF_InitGraph");
    pass = *std::move(optimizer);
  }
  if (entries.init_profiler != nullptr) {
    auto profiler = PluginProfiler::Init(entries.init_profiler, path);
    if (!profiler.ok()) return Prefixed(profiler.status(), path, "TF_InitProfiler");
    ledger.profiler = *std::move(profiler);
  }
  return pass;
}

// The devices of a library with both interfaces are those of SE_InitPlugin.
absl::Status LoadPjrt(const EntryPoints& entries, const PluginOptions& options,
                      PluginLedger& ledger) {
  if (entries.get_pjrt_api == nullptr || ledger.platform != nullptr) return absl::OkStatus();
  auto plugin = pjrt::Plugin::Load(ledger.path, entries.get_pjrt_api,
                                   {options.device_type, options.client_options});
  if (!plugin.ok() && entries.has_next_device && absl::IsFailedPrecondition(plugin.status())) {
    // A NextPluggableDevice may have no table in a process where its devices are of another kind.
    ledger.info.warnings.emplace_back(plugin.status().message());
    return absl::OkStatus();
  }
  if (!plugin.ok()) return Prefixed(plugin.status(), ledger.path, "GetPjrtApi");
  ledger.pjrt = *std::move(plugin);
  return absl::OkStatus();
}

// Renames what belongs to the plug-in's own device type.
absl::Status ServeAs(const std::string& type, PluginLedger& ledger,
                     std::optional<PluginOptimizer>& pass) {
  if (type.empty()) return absl::OkStatus();
  if (ledger.pjrt != nullptr) return absl::OkStatus();  // it has got the name
  if (ledger.platform == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("plug-in ", ledger.path, ": it brings no devices that could be named ", type));
  }
  if (pass && pass->device_type == ledger.platform->type()) pass->device_type = type;
  ledger.platform->ServeAs(type);
  return absl::OkStatus();
}

// Any order would do: what is published when one step fails is in the ledger, to be dropped.
absl::Status PublishAll(PluginLedger& ledger, std::optional<PluginOptimizer> pass,
                        const PluginOptions& options) {
  PublishOptions publish;
  publish.priority = options.priority;
  publish.serve_as = options.device_type;
  if (ledger.platform != nullptr) publish.device_type = ledger.platform->type();
  TENON_RETURN_IF_ERROR(ServeAs(options.device_type, ledger, pass));
  if (pass) {
    TENON_RETURN_IF_ERROR(
        Prefixed(RegisterPluginOptimizer(*std::move(pass)), ledger.path, "TF_InitGraph"));
    ledger.info.pass = true;
  }
  return Prefixed(Publish(ledger, publish), ledger.path, "registration of ops");
}

// For the structs that the plug-in filled in.
std::vector<StructSize> StructSizes(const StreamExecutorPlatform* platform,
                                    const std::optional<PluginOptimizer>& pass,
                                    const PluginProfiler* profiler) {
  std::vector<StructSize> sizes;
  if (platform != nullptr) {
    sizes.push_back({"SP_Platform", platform->platform()->struct_size, SP_PLATFORM_STRUCT_SIZE});
    sizes.push_back(
        {"SP_PlatformFns", platform->platform_fns().struct_size, SP_PLATFORM_FNS_STRUCT_SIZE});
    sizes.push_back(
        {"SP_DeviceFns", platform->device_fns().struct_size, SP_DEVICE_FNS_STRUCT_SIZE});
    sizes.push_back(
        {"SP_StreamExecutor", platform->se().struct_size, SP_STREAMEXECUTOR_STRUCT_SIZE});
  }
  if (pass) {
    sizes.push_back({"TP_Optimizer", pass->fns.struct_size, TP_OPTIMIZER_STRUCT_SIZE});
    sizes.push_back(
        {"TP_OptimizerConfigs", pass->configs.struct_size, TP_OPTIMIZER_CONFIGS_STRUCT_SIZE});
  }
  if (profiler != nullptr) {
    sizes.push_back({"TP_Profiler", profiler->profiler()->struct_size, TP_PROFILER_STRUCT_SIZE});
    sizes.push_back({"TP_ProfilerFns", profiler->fns().struct_size, TP_PROFILER_FNS_STRUCT_SIZE});
  }
  return sizes;
}

// Enters in the ledger's facts what is known of its devices by now.
void DescribeDevices(PluginLedger& ledger) {
  PluginInfo& info = ledger.info;
  if (ledger.platform != nullptr) {
    info.kind = DeviceKind::kPluggable;
    info.device_type = ledger.platform->type();
  } else if (ledger.pjrt != nullptr) {
    info.kind = DeviceKind::kPjrt;
    info.device_type = ledger.pjrt->type();
    info.pjrt = ledger.pjrt->facts();
  }
}

// Opens the library and runs its code. On an error the caller drops what the ledger has by then.
absl::Status OpenPlugin(PluginLedger& ledger, const PluginOptions& options) {
  PluginInfo& info = ledger.info;
  TENON_RETURN_IF_ERROR(Prefixed(OpenPluginLibrary(ledger), ledger.path, "dlopen"));
  const EntryPoints entries = FindEntryPoints(ledger.library.handle, &info);
  TENON_ASSIGN_OR_RETURN(const std::optional<PluginOptimizer> pass,
                         CallEntryPoints(entries, ledger));
  TENON_RETURN_IF_ERROR(LoadPjrt(entries, options, ledger));
  // Before anything can fail further on: warnings outlive a failed load.
  for (const std::string& refused : ledger.staged.refused) info.warnings.push_back(refused);
  TENON_RETURN_IF_ERROR(PublishAll(ledger, pass, options));
  info.resident = ledger.library.resident;
  info.notes = KernelRegistry::Global().Precedence(ledger.path);
  info.profiler = ledger.profiler != nullptr;
  DescribeDevices(ledger);
  info.structs = StructSizes(ledger.platform.get(), pass, ledger.profiler.get());
  if (info.entry_points.empty() && info.ops.empty() && info.kernels == 0) {
    info.warnings.push_back("it exports no entry point and registered nothing: is this a plug-in?");
  }
  return absl::OkStatus();
}

// A library opened for its ops has no options and no entry points. Its error names no plug-in, as
// that of TF_LoadLibrary does not.
absl::Status OpenOps(PluginLedger& ledger) {
  TENON_RETURN_IF_ERROR(OpenPluginLibrary(ledger));
  return Publish(ledger, {});
}

// On an error nothing of it is registered. A library that was opened stays mapped: it may have
// started threads.
absl::Status Open(PluginLedger& ledger, const PluginOptions& options) {
  const LoadScope scope(ledger);
  absl::Status status = ledger.ops_only ? OpenOps(ledger) : OpenPlugin(ledger, options);
  if (!status.ok()) DropAll(ledger);
  return status;
}

// A thread that waits for itself waits for ever.
absl::Status CheckNoLoop(const std::string& path) {
  if (!LoadScope::IsOf(path)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "plug-in ", path, ": asks for its own load while it is being loaded or unloaded"));
}

// So do threads that wait for each other. The caller holds the loader's lock.
absl::Status CheckNoCircle(const PluginLedger& wanted) {
  for (const PluginLedger* ledger = wanted.waits_for; ledger != nullptr;
       ledger = ledger->waits_for) {
    if (!LoadScope::IsOf(ledger->path)) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "plug-in ", wanted.path, ": its load waits for ", ledger->path, ", which asks for it"));
  }
  return absl::OkStatus();
}

void NoteWait(const PluginLedger* ledger) {
  if (PluginLedger* const waiting = LoadScope::Current()) waiting->waits_for = ledger;
}

// Whether the next request runs the library's code. A file that could not be opened may be there
// now, and the op that stood in another's way may be gone; a plug-in that was opened does not get
// better.
bool MayRetry(const PluginLedger& ledger) {
  const absl::Status& status = ledger.info.status;
  return ledger.ops_only ? !status.ok() : absl::IsNotFound(status);
}

// By path; else the one whose file has another name (a hard link): the system opens it once only.
PluginLedger* Loader::Find(const std::string& path, bool ops_only) {
  for (const auto& ledger : ledgers_) {
    if (ledger->ops_only == ops_only && ledger->path == path) return ledger.get();
  }
  std::error_code no_file;
  for (const auto& ledger : ledgers_) {
    if (ledger->ops_only == ops_only && (ledger->busy || !MayRetry(*ledger)) &&
        std::filesystem::equivalent(ledger->path, path, no_file))
      return ledger.get();
  }
  return nullptr;
}

PluginLedger* Loader::Add(const std::string& path, bool ops_only) {
  PluginLedger& ledger = *ledgers_.emplace_back(std::make_unique<PluginLedger>(path));
  ledger.ops_only = ops_only;
  if (ops_only) return &ledger;
  if (auto left = mapped_.extract(path)) ledger.library = std::move(left.mapped());
  return &ledger;
}

// Plug-ins that no thread is loading or unloading.
std::vector<PluginLedger*> Loader::Settled() {
  std::vector<PluginLedger*> settled;
  for (const auto& ledger : ledgers_) {
    if (!ledger->busy && !ledger->ops_only) settled.push_back(ledger.get());
  }
  return settled;
}

// TensorFlow ends the process at a second platform of the same name or type; here both serve.
void Loader::WarnOfSharedNames(PluginLedger& ledger) {
  if (ledger.platform == nullptr) return;
  for (const PluginLedger* other : Settled()) {
    if (other == &ledger || other->platform == nullptr) continue;
    if (other->platform->type() == ledger.platform->type()) {
      ledger.info.warnings.push_back(
          absl::StrCat("device type ", ledger.platform->type(), " is also that of ", other->path,
                       ": this plug-in's devices get the ordinals after its"));
    } else if (other->platform->name() == ledger.platform->name()) {
      ledger.info.warnings.push_back(absl::StrCat("platform name \"", ledger.platform->name(),
                                                  "\" is also that of ", other->path));
    }
  }
}

// Waits until no other thread loads or unloads the plug-in. Returns its ledger, or null.
absl::StatusOr<PluginLedger*> Loader::Await(const std::string& path, bool ops_only) {
  PluginLedger* ledger = Find(path, ops_only);
  while (ledger != nullptr && ledger->busy) {
    TENON_RETURN_IF_ERROR(CheckNoCircle(*ledger));
    const auto over = [&] {
      mutex_.AssertReaderHeld();
      return Find(path, ops_only) != ledger || !ledger->busy;  // it may have been unloaded
    };
    NoteWait(ledger);
    mutex_.Await(absl::Condition(&over));
    NoteWait(nullptr);
    ledger = Find(path, ops_only);
  }
  return ledger;
}

absl::StatusOr<PluginInfo> Loader::Load(const std::string& path, const PluginOptions& options,
                                        bool ops_only) {
  PrepareForPlugins();
  const std::string canonical = CanonicalPath(path);
  TENON_RETURN_IF_ERROR(CheckNoLoop(canonical));
  PluginLedger* ledger;
  {
    absl::MutexLock lock(&mutex_);
    TENON_ASSIGN_OR_RETURN(ledger, Await(canonical, ops_only));
    if (ledger == nullptr) {
      ledger = Add(canonical, ops_only);
    } else if (!MayRetry(*ledger)) {
      if (!ledger->info.status.ok()) return ledger->info.status;
      return ledger->info;
    }
    ledger->busy = true;
    NoteWait(ledger);
  }
  ledger->info = PluginInfo();  // of an earlier try
  ledger->info.path = ledger->path;
  absl::Status status = Open(*ledger, options);
  absl::MutexLock lock(&mutex_);
  ledger->info.status = status;
  ledger->busy = false;
  NoteWait(nullptr);
  if (!status.ok()) return status;
  WarnOfSharedNames(*ledger);
  return ledger->info;
}

// Constructors, and TF_InitKernel, do not run again in a library that stays: the next ledger of the
// path needs what they registered.
void Loader::KeepLibrary(PluginLedger& ledger) {
  if (ledger.library.handle != nullptr) mapped_[ledger.path] = std::move(ledger.library);
}

absl::Status Loader::Unload(const std::string& path) {
  const std::string canonical = CanonicalPath(path);
  // Held to the end, so that no device is created or handed out meanwhile.
  absl::MutexLock devices_lock(&devices_mutex_);
  PluginLedger* ledger;
  {
    absl::MutexLock lock(&mutex_);
    ledger = Find(canonical, /*ops_only=*/false);
    if (ledger == nullptr)
      return absl::NotFoundError(absl::StrCat("plug-in ", canonical, " is not loaded"));
    std::string_view user = UserOf(*ledger);
    const PluginLedger* const ops = Find(canonical, /*ops_only=*/true);
    if (ops != nullptr && (ops->busy || ops->info.status.ok()))
      user = "its ops, which TF_LoadLibrary asked for, are";
    if (!user.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("plug-in ", canonical, " cannot be unloaded: ", user, " in use"));
    }
    ledger->busy = true;
  }
  // What it registers while it ends is staged in its own ledger, and goes with it.
  const LoadScope ending(*ledger);
  if (!DropAll(*ledger)) ClosePluginLibrary(*ledger);
  absl::MutexLock lock(&mutex_);
  KeepLibrary(*ledger);
  for (const auto& other : ledgers_) {
    if (other->waits_for == ledger) other->waits_for = nullptr;
  }
  std::erase_if(ledgers_, [ledger](const auto& l) { return l.get() == ledger; });
  return absl::OkStatus();
}

std::vector<PluginInfo> Loader::List() {
  absl::MutexLock devices_lock(&devices_mutex_);
  std::vector<PluginInfo> infos;
  std::vector<std::shared_ptr<StreamExecutorPlatform>> platforms;
  std::set<std::string> device_types = {"CPU", "DEFAULT"};
  {
    absl::MutexLock lock(&mutex_);
    for (const PluginLedger* ledger : Settled()) {
      infos.push_back(ledger->info);
      infos.back().device_count = static_cast<int>(ledger->devices.size());
      platforms.push_back(ledger->platform);
      if (ledger->platform != nullptr) device_types.insert(ledger->platform->type());
    }
  }
  // Without mutex_: DeviceCount calls the plug-in.
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
int NextOrdinal(std::string_view type, absl::Span<PluginLedger* const> ledgers) {
  int next = type == "CPU" ? 1 : 0;
  for (const PluginLedger* ledger : ledgers) {
    for (const auto& device : ledger->devices) {
      if (device->type() == type) next = std::max(next, device->ordinal() + 1);
    }
  }
  return next;
}

// Of the CPU, and of the other plug-ins as far as they have told.
bool IsTaken(std::string_view type, const PluginLedger& by, absl::Span<PluginLedger* const> all) {
  return type == "CPU" || std::any_of(all.begin(), all.end(), [&](const PluginLedger* other) {
           if (other == &by) return false;
           return (other->platform != nullptr && other->platform->type() == type) ||
                  (other->pjrt != nullptr && other->pjrt->type() == type);
         });
}

absl::StatusOr<std::vector<std::unique_ptr<Device>>> DevicesOf(
    PluginLedger& ledger, absl::Span<PluginLedger* const> all) {
  const auto first_ordinal = [&](std::string_view type) { return NextOrdinal(type, all); };
  if (ledger.platform != nullptr)
    return CreatePluggableDevices(ledger.platform, first_ordinal(ledger.platform->type()));
  auto devices = ledger.pjrt->CreateDevices(
      [&](std::string_view type) { return IsTaken(type, ledger, all); }, first_ordinal);
  if (devices.ok()) return devices;
  return Prefixed(devices.status(), ledger.path, "its client");
}

// On an error all that the plug-in brought is dropped. Its library stays mapped, as after a load
// that fails.
absl::Status Loader::CreateDevices(PluginLedger& ledger, absl::Span<PluginLedger* const> all) {
  auto created = DevicesOf(ledger, all);
  if (created.ok()) {
    ledger.devices = *std::move(created);
    ledger.devices_created = true;
    absl::MutexLock lock(&mutex_);
    DescribeDevices(ledger);
    return absl::OkStatus();
  }
  {
    absl::MutexLock lock(&mutex_);
    ledger.busy = true;  // so that nobody takes its profiler while it is dropped
  }
  DropAll(ledger);
  absl::MutexLock lock(&mutex_);
  ledger.info.status = created.status();
  ledger.busy = false;
  return created.status();
}

absl::StatusOr<std::vector<Device*>> Loader::Devices() {
  absl::MutexLock devices_lock(&devices_mutex_);
  std::vector<PluginLedger*> ledgers;
  {
    absl::MutexLock lock(&mutex_);
    ledgers = Settled();
    std::erase_if(ledgers, [](const PluginLedger* ledger) {
      return ledger->platform == nullptr && ledger->pjrt == nullptr;
    });
  }
  for (PluginLedger* ledger : ledgers) {
    if (!ledger->devices_created) TENON_RETURN_IF_ERROR(CreateDevices(*ledger, ledgers));
  }
  std::vector<Device*> devices;
  for (const PluginLedger* ledger : ledgers) {
    for (const auto& device : ledger->devices) devices.push_back(device.get());
  }
  return devices;
}

std::vector<std::shared_ptr<PluginProfiler>> Loader::Profilers() {
  absl::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<PluginProfiler>> profilers;
  for (const PluginLedger* ledger : Settled()) {
    if (ledger->profiler != nullptr) profilers.push_back(ledger->profiler);
  }
  return profilers;
}

void Loader::Shutdown() {
  absl::MutexLock devices_lock(&devices_mutex_);
  std::vector<std::unique_ptr<PluginLedger>> plugins;
  {
    absl::MutexLock lock(&mutex_);
    // Op libraries stay: TF_LoadLibrary has no counterpart that unloads. So does a plug-in that a
    // thread is loading: a process may end meanwhile, even from within the plug-in.
    const auto first =
        std::stable_partition(ledgers_.begin(), ledgers_.end(),
                              [](const auto& ledger) { return ledger->ops_only || ledger->busy; });
    std::move(first, ledgers_.end(), std::back_inserter(plugins));
    ledgers_.erase(first, ledgers_.end());
  }
  for (; !plugins.empty(); plugins.pop_back()) {
    DropAll(*plugins.back());
    absl::MutexLock lock(&mutex_);
    KeepLibrary(*plugins.back());
  }
}

}  // namespace

std::string_view DeviceKindName(DeviceKind kind) {
  constexpr std::string_view kNames[] = {"", "pluggable", "next_pluggable", "pjrt"};
  return kNames[static_cast<size_t>(kind)];
}

absl::StatusOr<PluginInfo> LoadPlugin(const std::string& path, const PluginOptions& options) {
  return Loader::Global().Load(path, options, /*ops_only=*/false);
}
absl::Status UnloadPlugin(const std::string& path) { return Loader::Global().Unload(path); }
std::vector<PluginInfo> Plugins() { return Loader::Global().List(); }
absl::StatusOr<std::vector<Device*>> PluginDevices() { return Loader::Global().Devices(); }
std::vector<std::shared_ptr<PluginProfiler>> PluginProfilers() {
  return Loader::Global().Profilers();
}
void ShutdownPlugins() { Loader::Global().Shutdown(); }
absl::StatusOr<std::vector<std::string>> LoadOpLibrary(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(PluginInfo info, Loader::Global().Load(path, {}, /*ops_only=*/true));
  return std::move(info.ops);
}

}  // namespace tenon
