#include "executor/api/eager/context.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/api/base/device_list.h"
#include "executor/api/base/process.h"
#include "executor/session/config_proto.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/usable_cores.h"

namespace tenon::eager {
namespace {

int ThreadsFor(const ContextOptions& options) {
  return options.session.threads > 0 ? options.session.threads : DefaultThreads();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Context>> Context::Make(const ContextOptions& options) {
  TENON_RETURN_IF_ERROR(cpu::CheckIsaVariable());
  TENON_ASSIGN_OR_RETURN(std::vector<Device*> devices, api::ProcessDevices(options.device_count));
  return std::unique_ptr<Context>(new Context(options, std::move(devices)));
}

// Kernels may use any file: they do what the program asks for.
Context::Context(const ContextOptions& options, std::vector<Device*> devices)
    : options_(options),
      soft_placement_(options.soft_placement),
      log_placement_(options.log_placement),
      devices_(std::move(devices)),
      incarnation_(api::NewIncarnation()),
      workers_(ThreadsFor(options)),
      states_(options.session.seed, FileAccess::Anything()),
      executor_(std::make_shared<Executor>(options.async, 0)),
      executors_{executor_} {
  options_.session.threads = workers_.threads();
  options_.session.files = FileAccess::Anything();
  for (const Device* device : devices_) holds_.emplace_back(device->plugin());
}

absl::StatusOr<Device*> Context::DeviceOfName(const char* name) {
  if (name == nullptr || *name == '\0') return nullptr;
  for (Device* const device : devices_) {
    if (IsNameOf(name, *device)) return device->is_host() ? nullptr : device;
  }
  return absl::InvalidArgumentError(absl::StrCat(name, " unknown device."));
}

// Without a copy of the list, which takes memory: nobody else uses the context any more.
Context::~Context() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (const std::shared_ptr<Executor>& executor : executors_) executor->Wait().IgnoreError();
}

TFE_ContextDevicePlacementPolicy Context::policy() const {
  if (!has_threads_.load(std::memory_order_acquire)) return options_.policy;
  absl::ReaderMutexLock lock(&mutex_);
  const auto own = threads_.find(std::this_thread::get_id());
  return own == threads_.end() ? options_.policy : own->second.policy.value_or(options_.policy);
}

void Context::SetThreadPolicy(TFE_ContextDevicePlacementPolicy policy) {
  absl::MutexLock lock(&mutex_);
  threads_[std::this_thread::get_id()].policy = policy;
  has_threads_.store(true, std::memory_order_release);
}

std::shared_ptr<Executor> Context::executor() const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto own = threads_.find(std::this_thread::get_id());
  const bool has_own =
      own != threads_.end() && own->second.executor != nullptr && !own->second.executor->retired();
  return has_own ? own->second.executor : executor_;
}

void Context::SetThreadExecutor(std::shared_ptr<Executor> executor) {
  // An executor that is deleted goes with its thread, once nobody has to be told of an error. Its
  // destructor waits, which it must not do under the lock.
  std::vector<std::shared_ptr<Executor>> dropped;
  const auto drop = [&](std::shared_ptr<Executor>& held) {
    if (held == nullptr || !held->retired() || !held->status().ok()) return false;
    dropped.push_back(std::move(held));
    return true;
  };
  absl::MutexLock lock(&mutex_);
  std::erase_if(executors_, drop);
  for (auto& [id, thread] : threads_) drop(thread.executor);
  if (executor != nullptr &&
      std::find(executors_.begin(), executors_.end(), executor) == executors_.end())
    executors_.push_back(executor);
  threads_[std::this_thread::get_id()].executor = std::move(executor);
  has_threads_.store(true, std::memory_order_release);
}

void Context::set_soft_placement(bool value) {
  if (soft_placement_.exchange(value) == value) return;
  ops_.ClearCallables();
  functions_.ClearCallables();
}

void Context::set_log_placement(bool value) {
  if (log_placement_.exchange(value) == value) return;
  ops_.ClearCallables();
  functions_.ClearCallables();
}

std::vector<std::shared_ptr<Executor>> Context::Executors() const {
  absl::ReaderMutexLock lock(&mutex_);
  return executors_;
}

absl::Status Context::WaitForAll() const {
  absl::Status first;
  for (const std::shared_ptr<Executor>& executor : Executors()) first.Update(executor->Wait());
  return first;
}

absl::Status Context::EndAll() {
  absl::Status first;
  for (const std::shared_ptr<Executor>& executor : Executors()) {
    first.Update(executor->Wait());
    executor->ClearError();
  }
  return first;
}

SessionParts Context::session_parts() {
  return {.options = options_.session,
          .devices = devices_,
          .host = devices_[0],
          .registry = KernelRegistry::Global(),
          .workers = workers_,
          .states = states_,
          .arenas = arenas_,
          .next_step = next_step_,
          .states_live_longer = true};
}

std::shared_ptr<const KernelSurroundings> Context::kernel_surroundings() {
  auto surroundings = std::make_shared<KernelSurroundings>();
  surroundings->resources = &states_.resources();
  surroundings->config_proto = ConfigProto(options_.session, devices_);
  return surroundings;
}

void Context::ClearCaches() {
  ops_.ClearCallables();
  functions_.ClearCallables();
  states_.ForgetNodeStates();
}

absl::StatusOr<Context*> ContextOf(TFE_Context* shell) {
  if (shell == nullptr) return absl::InvalidArgumentError("Invalid context");
  Context* const context = shell->context.load(std::memory_order_acquire);
  if (context == nullptr) return absl::InvalidArgumentError("Invalid context: it is deleted");
  return context;
}

}  // namespace tenon::eager
