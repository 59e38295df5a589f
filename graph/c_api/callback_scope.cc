// Which plug-in's function runs on which thread. Each thread has a record that it alone writes;
// readers (watchdog, signal handlers) walk a list of records that only grows. Scopes nest: each
// puts the outer one back at its end.

#include "graph/c_api/callback_scope.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "graph/base/annotate.h"
#include "graph/base/one_line.h"
#include "graph/c_api/abi_watch.h"

namespace tenon {
namespace {

// The calls of one thread. Records are never freed, only reused by later threads: so a watchdog or
// a signal handler may walk the list without a lock.
struct ThreadCalls {
  std::atomic<const CallbackInfo*> current{nullptr};
  // Counts begins and ends of calls, by twos: odd while `current` changes.
  std::atomic<uint64_t> serial{0};
  // Of the call that ended last. A copy of the path, cut: plug-ins go, and so do their names.
  char last_plugin[256] = "";
  std::atomic<const char*> last_callback{""};
  std::atomic<bool> taken{true};
  ThreadCalls* next = nullptr;
};
std::atomic<ThreadCalls*> all_threads{nullptr};

std::atomic<void (*)()> thread_end_handler{nullptr};

// The payload by which a status is marked; payloads survive Annotate.
constexpr std::string_view kFaultKey = "tenon/plugin_fault";

// The record of a thread that has ended, or a new one at the head of the list.
ThreadCalls* TakeThreadCalls() {
  for (ThreadCalls* calls = all_threads.load(); calls != nullptr; calls = calls->next) {
    bool taken = false;
    if (!calls->taken.compare_exchange_strong(taken, true)) continue;
    calls->last_plugin[0] = '\0';
    calls->last_callback = "";
    return calls;
  }
  auto* calls = new ThreadCalls;
  calls->next = all_threads.load();
  while (!all_threads.compare_exchange_weak(calls->next, calls)) {
  }
  return calls;
}

// Thread-local storage of this model is never allocated on first use, so a signal handler may read
// it.
[[gnu::tls_model("initial-exec")]] thread_local ThreadCalls* this_thread = nullptr;
thread_local bool host_thread = false;
thread_local WorkScope::NodeFn work_node = nullptr;
thread_local const void* work_context = nullptr;

// Gives the record back when the thread ends, but not when a plug-in ends the thread in the middle
// of a call: that call is still to be reported.
struct ThreadExit {
  ~ThreadExit() {
    if (this_thread == nullptr || this_thread->current.load() != nullptr) return;
    std::exchange(this_thread, nullptr)->taken.store(false);
  }
};

// Takes a record for this thread. Not inline: a thread does so once, a call enters each time.
[[gnu::noinline]] void TellOfThisThread() {
  static thread_local ThreadExit at_exit;
  (void)&at_exit;
  this_thread = TakeThreadCalls();
}

inline void Enter(const CallbackInfo* call) {
  if (this_thread == nullptr) [[unlikely]]
    TellOfThisThread();
  ThreadCalls& calls = *this_thread;
  // Only this thread writes its record, so loads and stores suffice; a locked add would cost more.
  const uint64_t serial = calls.serial.load(std::memory_order_relaxed);
  calls.serial.store(serial + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  // Release: a thread that reads the pointer must find the call filled in.
  calls.current.store(call, std::memory_order_release);
  calls.serial.store(serial + 2, std::memory_order_release);
}

// Notes the plug-in of a call that has ended. Mostly it is that of the call before.
inline void NoteLast(ThreadCalls& calls, const CallbackInfo& info) {
  constexpr size_t kMost = sizeof(calls.last_plugin) - 1;
  if (std::strncmp(calls.last_plugin, info.plugin, kMost) != 0)
    std::strncpy(calls.last_plugin, info.plugin, kMost);  // the last byte stays 0
  calls.last_callback.store(info.callback, std::memory_order_relaxed);
}

// The call in progress with its serial. Null if there is none, or if calls begin and end faster
// than they can be read.
ActiveCall Read(const ThreadCalls& calls) {
  for (int tries = 0; tries < 100; ++tries) {
    const uint64_t serial = calls.serial.load(std::memory_order_acquire);
    const CallbackInfo* const call = calls.current.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (serial % 2 == 0 && calls.serial.load(std::memory_order_relaxed) == serial)
      return {&calls, serial, call};
  }
  return {&calls, 0, nullptr};
}

}  // namespace

const CallbackInfo* CurrentCallback() {
  return this_thread == nullptr ? nullptr : this_thread->current.load(std::memory_order_relaxed);
}

const CallbackInfo* AnyCallback() {
  for (ThreadCalls* calls = all_threads.load(); calls != nullptr; calls = calls->next) {
    const CallbackInfo* call = calls->current.load(std::memory_order_acquire);
    if (call != nullptr) return call;
  }
  return nullptr;
}

CallbackInfo LastCallback() {
  if (this_thread == nullptr) return {};
  return {this_thread->last_plugin, this_thread->last_callback.load(std::memory_order_relaxed), {}};
}

std::vector<ActiveCall> ActiveCalls() {
  std::vector<ActiveCall> active;
  for (ThreadCalls* calls = all_threads.load(); calls != nullptr; calls = calls->next) {
    const ActiveCall call = Read(*calls);
    if (call.call != nullptr) active.push_back(call);
  }
  return active;
}

void MarkHostThread() { host_thread = true; }
bool IsHostThread() { return host_thread; }

WorkScope::WorkScope(NodeFn node, const void* context)
    : outer_node_(std::exchange(work_node, node)),
      outer_context_(std::exchange(work_context, context)) {}

WorkScope::~WorkScope() {
  work_node = outer_node_;
  work_context = outer_context_;
}

CallbackScope::CallbackScope(const char* plugin, const char* callback, std::string_view node)
    : info_{plugin, callback, node}, outer_(CurrentCallback()) {
  if (node.empty()) {
    if (outer_ != nullptr) {
      info_.node = outer_->node;
    } else if (work_node != nullptr) {
      info_.node = work_node(work_context);
    }
  }
  Enter(&info_);
}

CallbackScope::~CallbackScope() {
  Enter(outer_);
  NoteLast(*this_thread, info_);
}

void OnThreadEndedByPlugin(void (*handler)()) { thread_end_handler.store(handler); }

void ThreadEndsByPlugin() {
  if (const auto handler = thread_end_handler.load()) handler();
}

absl::Status ExceptionStatus(const CallbackInfo& info, const char* what) {
  if (AbiWatch* watch = AbiWatch::Active()) {
    watch->Report("exception", absl::StrCat("an exception leaves it", what == nullptr ? "" : ": ",
                                            what == nullptr ? "" : what,
                                            "; it has to end in a status, TensorFlow would abort"));
  }
  return absl::InternalError(absl::StrCat(info.callback, " of plug-in ", info.plugin,
                                          " threw an exception", what == nullptr ? "" : ": ",
                                          what == nullptr ? "" : what));
}

absl::Status Attribute(absl::Status status, std::string_view callback, std::string_view plugin) {
  if (status.ok()) return status;
  return Annotate(status, "", absl::StrCat(" (", callback, " of plug-in ", plugin, ")"));
}

absl::Status PluginFault(absl::Status status) {
  status.SetPayload(kFaultKey, absl::Cord());
  return status;
}

bool IsPluginFault(const absl::Status& status) { return status.GetPayload(kFaultKey).has_value(); }

void WarnOf(const absl::Status& status) {
  if (status.ok()) return;
  const char* level = std::getenv("TF_CPP_MIN_LOG_LEVEL");
  int least = 0;
  if (level != nullptr && absl::SimpleAtoi(level, &least) && least >= 2) return;
  static absl::Mutex mutex(absl::kConstInit);
  // Never destroyed: plug-ins may fail while static objects of the process are being destroyed.
  static auto* const told = new std::set<std::string>;
  const std::string line = OneLine(status.message());
  absl::MutexLock lock(&mutex);
  if (told->insert(line).second) std::fprintf(stderr, "warning: %s\n", line.c_str());
}

}  // namespace tenon
