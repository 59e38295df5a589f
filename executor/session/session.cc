// Executables are kept by feeds and fetches and live as long as the session. One mutex guards the
// map, and another one lets one executable be made at a time, so that a pair that is ready never
// waits for a compilation.

#include "executor/session/session.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "executor/run/arena_pool.h"
#include "executor/run/kernel_states.h"
#include "executor/session/executable.h"
#include "executor/state/fixed_variables.h"
#include "executor/state/state_makers.h"
#include "executor/state/variable_use.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/plugin_hold.h"
#include "graph/ir/nodes.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/usable_cores.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/device/compute_streams.h"

namespace tenon {

struct Session::Impl {
  using Key = std::pair<std::vector<std::string>, std::vector<std::string>>;

  Impl(Graph g, std::vector<Device*> d, SessionOptions o)
      : graph(std::move(g)),
        devices(std::move(d)),
        options(std::move(o)),
        workers(options.workers != nullptr ? options.workers
                                           : std::make_shared<Workers>(options.threads)),
        states(options.seed, options.files) {
    for (const Device* device : devices) holds.emplace_back(device->plugin());
  }

  SessionParts Parts(Device* host) {
    return {options, devices,   host,        KernelRegistry::Global(), *workers, states,
            arenas,  next_step, fixed.load()};
  }

  // Executables that read a constant would not see the change.
  absl::Status CheckChangesNoFixed(const std::vector<std::string>& fetches) const {
    const FixedVariables* variables = fixed.load();
    if (variables == nullptr || variables->constants().empty()) return absl::OkStatus();
    absl::flat_hash_set<std::string> constants;
    for (const auto& [variable, constant] : variables->constants())
      constants.insert(IdentityOf(ReachedInGraph(graph, variable)));
    for (const NodeId n : UseOfVariables(graph, NodesOfOutputs(graph, fetches)).changed) {
      if (constants.contains(IdentityOf(ReachedInGraph(graph, n)))) {
        return NodeError(graph, n,
                         absl::FailedPreconditionError(
                             "is changed by what is to run, and others have it as a constant"));
      }
    }
    return absl::OkStatus();
  }

  Graph graph;  // SetGraph changes it, under prepare_mutex
  std::vector<Device*> devices;
  // of the plug-ins of `devices`; PluginHold cannot move, so no vector
  std::deque<PluginHold> holds;
  const SessionOptions options;
  const std::shared_ptr<Workers> workers;
  KernelStates states;
  ArenaPool arenas;
  std::unique_ptr<Device> own_host;
  Device* host = nullptr;
  std::atomic<int64_t> next_step{1};
  absl::Mutex prepare_mutex;  // one executable is made at a time; also guards fixed_owner
  std::unique_ptr<const FixedVariables> fixed_owner;
  // fixed_owner.get(), for readers that do not hold the mutex.
  std::atomic<const FixedVariables*> fixed = nullptr;
  absl::Mutex mutex;
  // Last, so that executables go first: they borrow from all of the above.
  std::map<Key, std::unique_ptr<Executable>> executables ABSL_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<Executable>> others ABSL_GUARDED_BY(mutex);  // of PrepareOther
};

absl::StatusOr<std::unique_ptr<Session>> Session::Create(Graph graph, std::vector<Device*> devices,
                                                         SessionOptions options) {
  if (options.threads < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("the number of threads cannot be ", options.threads));
  if (options.device_streams < 1 || options.device_streams > kMostComputeStreams)
    return absl::InvalidArgumentError(absl::StrCat("a device has 1 to ", kMostComputeStreams,
                                                   " compute streams, not ",
                                                   options.device_streams));
  TENON_RETURN_IF_ERROR(cpu::CheckIsaVariable());
  if (options.workers != nullptr) options.threads = options.workers->threads();
  if (options.threads == 0) options.threads = DefaultThreads();
  if (options.workers == nullptr && (options.pin != Pin::kOff || options.numa != Numa::kOff)) {
    ThreadPlaces places =
        PlacesOfThreads(options.threads, options.pin, options.numa, CoresOfThread());
    options.workers = std::make_shared<Workers>(options.threads, std::move(places.cores));
  }
  auto impl = std::make_unique<Impl>(std::move(graph), std::move(devices), std::move(options));
  const auto host = std::find_if(impl->devices.begin(), impl->devices.end(),
                                 [](const Device* d) { return d->is_host(); });
  if (host != impl->devices.end()) {
    impl->host = *host;
  } else {
    impl->own_host = MakeCpuDevice();
    impl->host = impl->own_host.get();
    impl->devices.insert(impl->devices.begin(), impl->host);
  }
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

absl::Status Session::FixVariables(absl::Span<const std::string> entries) {
  if (impl_->options.opt_level == 0) return absl::OkStatus();
  absl::MutexLock prepare(&impl_->prepare_mutex);
  if (impl_->fixed_owner != nullptr)
    return absl::FailedPreconditionError("variables have been fixed before");
  const VariableUse use = UseOfVariables(impl_->graph, NodesOfOutputs(impl_->graph, entries));
  TENON_ASSIGN_OR_RETURN(FixedVariables fixed, FixedVariables::Make(impl_->graph, use.read_only,
                                                                    impl_->states.resources()));
  impl_->fixed_owner = std::make_unique<const FixedVariables>(std::move(fixed));
  impl_->fixed = impl_->fixed_owner.get();
  return absl::OkStatus();
}

const FixedVariables* Session::fixed_variables() const { return impl_->fixed; }

void Session::SetGraph(Graph graph) {
  absl::MutexLock prepare(&impl_->prepare_mutex);
  impl_->graph = std::move(graph);
}

const Graph& Session::graph() const { return impl_->graph; }
std::shared_ptr<Workers> Session::workers() const { return impl_->workers; }
int Session::threads() const { return impl_->workers->threads(); }
const FileAccess& Session::files() const { return impl_->options.files; }
ResourceManager& Session::resources() { return impl_->states.resources(); }

absl::StatusOr<Executable*> Session::Prepare(const std::vector<std::string>& feeds,
                                             const std::vector<std::string>& fetches) {
  Impl::Key key(feeds, fetches);
  auto find = [&]() -> Executable* {
    absl::ReaderMutexLock lock(&impl_->mutex);
    const auto it = impl_->executables.find(key);
    return it == impl_->executables.end() ? nullptr : it->second.get();
  };
  if (Executable* e = find()) return e;
  absl::MutexLock prepare(&impl_->prepare_mutex);
  // Another thread may have prepared the pair since the first look.
  if (Executable* e = find()) return e;
  TENON_RETURN_IF_ERROR(impl_->CheckChangesNoFixed(fetches));
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Executable> made,
                         Executable::Make(impl_->graph, feeds, fetches, impl_->Parts(impl_->host)));
  absl::MutexLock lock(&impl_->mutex);
  return impl_->executables.emplace(std::move(key), std::move(made)).first->second.get();
}

absl::StatusOr<Executable*> Session::PrepareOther(const Graph& graph,
                                                  const std::vector<std::string>& feeds,
                                                  const std::vector<std::string>& fetches) {
  absl::MutexLock prepare(&impl_->prepare_mutex);
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Executable> made,
                         Executable::Make(graph, feeds, fetches, impl_->Parts(impl_->host)));
  absl::MutexLock lock(&impl_->mutex);
  return impl_->others.emplace_back(std::move(made)).get();
}

absl::StatusOr<std::vector<Tensor>> Session::Run(Executable* executable,
                                                 absl::Span<const Tensor> feeds,
                                                 RunRecorder* recorder, const RunLimits* limits) {
  return executable->Run(feeds, recorder, limits);
}

absl::StatusOr<std::vector<Tensor>> Session::Run(const std::vector<NamedTensor>& feeds,
                                                 const std::vector<std::string>& fetches) {
  std::vector<std::string> names;
  std::vector<Tensor> values;
  for (const auto& [name, value] : feeds) {
    names.push_back(name);
    values.push_back(value);
  }
  TENON_ASSIGN_OR_RETURN(Executable * executable, Prepare(names, fetches));
  return Run(executable, values);
}

}  // namespace tenon
