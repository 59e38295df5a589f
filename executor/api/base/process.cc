#include "executor/api/base/process.h"

#include <algorithm>
#include <climits>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/usable_cores.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/host/loading/loader.h"

namespace tenon::api {
namespace {

constexpr int kMostCpuDevices = 1024;

struct Process {
  absl::Mutex mutex;
  std::vector<std::unique_ptr<Device>> cpus ABSL_GUARDED_BY(mutex);  // by ordinal
  // By number of threads.
  std::map<int, std::weak_ptr<Workers>> workers ABSL_GUARDED_BY(mutex);
  // What was asked for last: a program may make one session after the other.
  std::shared_ptr<Workers> last_workers ABSL_GUARDED_BY(mutex);
};

// Never destroyed: a program may leave sessions behind when it ends.
Process& TheProcess() {
  static auto* const process = new Process;
  return *process;
}

std::vector<Device*> CpuDevices(int count) {
  Process& process = TheProcess();
  absl::MutexLock lock(&process.mutex);
  std::vector<Device*> devices;
  for (int i = 0; i < count; ++i) {
    if (i == static_cast<int>(process.cpus.size())) process.cpus.push_back(MakeCpuDevice(i));
    devices.push_back(process.cpus[i].get());
  }
  return devices;
}

}  // namespace

absl::StatusOr<std::vector<Device*>> ProcessDevices(const std::map<std::string, int>& most) {
  const auto limit = [&](std::string_view type, int by_default) {
    const auto found = most.find(std::string(type));
    return found == most.end() ? by_default : found->second;
  };
  const int cpus = limit("CPU", 1);
  if (cpus <= 0) return absl::NotFoundError("No CPU devices are available in this process");
  if (cpus > kMostCpuDevices) {
    return absl::InvalidArgumentError(absl::StrCat("device_count asks for ", cpus,
                                                   " CPU devices; at most ", kMostCpuDevices,
                                                   " are possible"));
  }
  std::vector<Device*> devices = CpuDevices(cpus);
  TENON_ASSIGN_OR_RETURN(const std::vector<Device*> others, PluginDevices());
  absl::flat_hash_map<std::string_view, int> counts;
  for (Device* device : others) {
    // A plug-in may call its devices "CPU", too: they come behind the host's one, by which it
    // counts them.
    if (device->type() == "CPU" && device->ordinal() < cpus) continue;
    if (counts[device->type()]++ < limit(device->type(), INT_MAX)) devices.push_back(device);
  }
  return devices;
}

std::shared_ptr<Workers> ProcessWorkers(int threads) {
  if (threads <= 0) threads = DefaultThreads();
  Process& process = TheProcess();
  std::shared_ptr<Workers> former;  // joins its threads behind the lock
  absl::MutexLock lock(&process.mutex);
  std::weak_ptr<Workers>& known = process.workers[threads];
  std::shared_ptr<Workers> workers = known.lock();
  if (workers == nullptr) known = workers = std::make_shared<Workers>(threads);
  former = std::exchange(process.last_workers, workers);
  return workers;
}

}  // namespace tenon::api
