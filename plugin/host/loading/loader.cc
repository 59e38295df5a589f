#include "plugin/host/loading/loader.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/float_mode.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/host/devices/next_pluggable_device.h"
#include "plugin/host/devices/next_pluggable_platform.h"
#include "plugin/host/devices/pluggable_device.h"
#include "plugin/host/devices/stream_executor.h"
#include "plugin/host/link/shared_library.h"
#include "plugin/host/loading/open_plugin.h"
#include "plugin/host/loading/plugin_ledger.h"
#include "plugin/host/loading/plugin_library.h"
#include "plugin/host/loading/profiler.h"
#include "plugin/host/loading/registration_checks.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/kernels.h"

namespace tenon {
namespace {

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
  std::vector<
      std::pair<std::shared_ptr<StreamExecutorPlatform>, std::shared_ptr<NextPluggablePlatform>>>
      platforms;
  std::set<std::string> device_types = {"CPU", "DEFAULT"};
  {
    absl::MutexLock lock(&mutex_);
    for (const PluginLedger* ledger : Settled()) {
      infos.push_back(ledger->info);
      infos.back().device_count = static_cast<int>(ledger->devices.size());
      platforms.emplace_back(ledger->platform, ledger->next);
      if (ledger->platform != nullptr) device_types.insert(ledger->platform->type());
      if (ledger->next != nullptr) device_types.insert(ledger->next->type());
    }
  }
  // Without mutex_: DeviceCount calls the plug-in.
  for (size_t i = 0; i < infos.size(); ++i) {
    infos[i].doubts = DoubtfulKernels(infos[i].path, device_types);
    const auto& [platform, next] = platforms[i];
    if (platform == nullptr && next == nullptr) continue;
    std::string why;
    infos[i].device_count = platform == nullptr ? 0 : platform->DeviceCount(&why);
    if (next != nullptr && next->client() != nullptr)
      infos[i].device_count += next->DeviceCount(&why);
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
                  (other->next != nullptr && other->next->type() == type) ||
                  (other->pjrt != nullptr && other->pjrt->type() == type);
         });
}

// Those of SE_InitPlugin, then those of TFNPD_InitPlugin. Of a library with both, one has none.
absl::StatusOr<std::vector<std::unique_ptr<Device>>> DevicesOfPlatforms(
    PluginLedger& ledger, absl::FunctionRef<int(std::string_view type)> first_ordinal) {
  std::vector<std::unique_ptr<Device>> devices;
  if (ledger.platform != nullptr) {
    TENON_ASSIGN_OR_RETURN(
        devices, CreatePluggableDevices(ledger.platform, first_ordinal(ledger.platform->type())));
  }
  if (ledger.next == nullptr) return devices;
  int first = first_ordinal(ledger.next->type());
  for (const auto& device : devices) {
    if (device->type() == ledger.next->type()) first = std::max(first, device->ordinal() + 1);
  }
  std::string why;
  auto next = CreateNextPluggableDevices(ledger.next, first, &why);
  if (!next.ok()) return Prefixed(next.status(), ledger.path, "its devices");
  std::move(next->begin(), next->end(), std::back_inserter(devices));
  return devices;
}

absl::StatusOr<std::vector<std::unique_ptr<Device>>> DevicesOf(
    PluginLedger& ledger, absl::Span<PluginLedger* const> all) {
  const auto first_ordinal = [&](std::string_view type) { return NextOrdinal(type, all); };
  if (ledger.pjrt == nullptr) return DevicesOfPlatforms(ledger, first_ordinal);
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
      return ledger->platform == nullptr && ledger->next == nullptr && ledger->pjrt == nullptr;
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
