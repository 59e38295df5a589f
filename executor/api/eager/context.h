// TFE_Context: the devices, the state and the caches in which ops are executed.
// Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/api/eager/context_options.h"
#include "executor/api/eager/custom_device.h"
#include "executor/api/eager/device_names.h"
#include "executor/api/eager/executor_queue.h"
#include "executor/api/eager/function_library.h"
#include "executor/api/eager/graph_notes.h"
#include "executor/api/eager/op_table.h"
#include "executor/run/arena_pool.h"
#include "executor/run/kernel_states.h"
#include "executor/run/preparation_cache.h"
#include "executor/session/executable.h"
#include "graph/c_api/handles.h"
#include "graph/c_api/plugin_hold.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/device/device.h"

namespace tenon::eager {

// Thread-safe.
class Context {
 public:
  // A context with all devices of the process. Errors are those of ProcessDevices, and
  // INVALID_ARGUMENT if the environment variable that chooses the instruction set is wrong.
  static absl::StatusOr<std::unique_ptr<Context>> Make(const ContextOptions& options);
  // Waits for queued ops.
  ~Context();

  // The host first.
  absl::Span<Device* const> devices() const { return devices_; }
  bool only_host() const { return devices_.size() == 1; }
  const ContextOptions& options() const { return options_; }
  Workers& workers() { return workers_; }
  KernelStates& states() { return states_; }
  LatePreparations& preparations() { return preparations_; }
  OpTable& ops() { return ops_; }
  FunctionLibrary& functions() { return functions_; }
  const FunctionLibrary& functions() const { return functions_; }
  DeviceNames& device_names() { return device_names_; }
  CustomDevices& custom_devices() { return custom_devices_; }
  GraphNotes& graph_notes() { return graph_notes_; }
  // The policy and the executor of the calling thread: those that the thread has set, else those of
  // the context. SetThreadExecutor(nullptr) goes back to the context's executor, and so does
  // Executor::Retire of the thread's executor. A new thread may get the settings of a thread that
  // has ended, since the system uses ids of threads again.
  TFE_ContextDevicePlacementPolicy policy() const;
  void SetThreadPolicy(TFE_ContextDevicePlacementPolicy policy);
  std::shared_ptr<Executor> executor() const;
  void SetThreadExecutor(std::shared_ptr<Executor> executor);
  // Whether ops of the calling thread are executed within their calls. Cheaper than executor().
  bool IsSync() const {
    return !has_threads_.load(std::memory_order_acquire) ? !options_.async : !executor()->async();
  }
  bool soft_placement() const { return soft_placement_.load(std::memory_order_relaxed); }
  bool log_placement() const { return log_placement_.load(std::memory_order_relaxed); }
  // A change clears all callables, so that later executions are placed and logged anew.
  void set_soft_placement(bool value);
  void set_log_placement(bool value);
  // Waits for every executor that this context or one of its threads has ever had (Executor::Wait),
  // and returns the first error. Keeps the errors of the executors.
  absl::Status WaitForAll() const;
  // WaitForAll, and then clears the errors of the executors, as TensorFlow's TFE_ContextAsyncWait
  // does.
  absl::Status EndAll();
  // References to the parts of this context that an executable uses. The context must outlive them.
  SessionParts session_parts();
  // The facts about this context that kernels of plug-ins may ask for.
  std::shared_ptr<const KernelSurroundings> kernel_surroundings();
  // The `incarnation` for api::ListDevices.
  uint64_t incarnation() const { return incarnation_; }
  // The number of the next execution, counted from 1.
  int64_t NextStep() { return next_step_.fetch_add(1, std::memory_order_relaxed); }

  // The device of this name, which must be one of the names of IsNameOf. Null: the host, also if
  // `name` is null or "". INVALID_ARGUMENT if no device has the name.
  absl::StatusOr<Device*> DeviceOfName(const char* name);
  // Forgets all callables, and the states that kernels keep by node (KernelStates).
  void ClearCaches();

 private:
  std::vector<std::shared_ptr<Executor>> Executors() const;
  Context(const ContextOptions& options, std::vector<Device*> devices);

  ContextOptions options_;
  std::atomic<bool> soft_placement_, log_placement_;
  const std::vector<Device*> devices_;
  const uint64_t incarnation_;
  std::deque<PluginHold> holds_;  // of the plug-ins of devices_
  Workers workers_;
  KernelStates states_;
  ArenaPool arenas_;
  std::atomic<int64_t> next_step_{1};
  LatePreparations preparations_;
  DeviceNames device_names_;
  CustomDevices custom_devices_;
  GraphNotes graph_notes_;
  // Callables borrow from all of the above.
  FunctionLibrary functions_;
  OpTable ops_;
  const std::shared_ptr<Executor> executor_;
  struct OfThread {
    std::optional<TFE_ContextDevicePlacementPolicy> policy;
    std::shared_ptr<Executor> executor;  // null: the context's
  };
  mutable absl::Mutex mutex_;
  std::atomic<bool> has_threads_{false};  // threads_ has ever had an entry
  absl::flat_hash_map<std::thread::id, OfThread> threads_ ABSL_GUARDED_BY(mutex_);
  // All that may have ops of this context, executor_ too.
  std::vector<std::shared_ptr<Executor>> executors_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager

// A shell is never freed, and outlives its context: a call with a deleted context gets an error.
// Once its context is deleted, a shell may get a new context.
struct TFE_Context {
  bool is_deleted() const { return context.load(std::memory_order_acquire) == nullptr; }

  std::atomic<tenon::eager::Context*> context{nullptr};  // owned; null: deleted
  std::atomic<uint64_t> generation{0};                   // changes with each context of the shell
  TFE_Context* next_idle = nullptr;                      // of SharedHandlePool
};

namespace tenon::eager {

// The context of the shell. INVALID_ARGUMENT if the shell is null or its context is deleted.
absl::StatusOr<Context*> ContextOf(TFE_Context* shell);
// The same for functions without a status: null for null and, told in the name of the function, for
// a deleted one.
inline Context* ContextIfThere(TFE_Context* shell, const char* function = __builtin_FUNCTION()) {
  return IsThere(shell, function) ? shell->context.load(std::memory_order_acquire) : nullptr;
}

}  // namespace tenon::eager
