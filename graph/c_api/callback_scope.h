// Calls into plug-ins. Notes which call is running on each thread, for signal handlers and
// watchdogs to name, and turns exceptions into statuses.
#pragma once

#include <cxxabi.h>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace tenon {

// A call in progress. The strings live as long as the call. Each may be empty.
struct CallbackInfo {
  const char* plugin = "";    // the path of its library
  const char* callback = "";  // "memcpy_htod", "compute_func", "dlopen" …
  std::string_view node;      // the name of the node that the call works for
};

// The innermost call into a plug-in on this thread, or null. Safe to call from a signal handler.
const CallbackInfo* CurrentCallback();
// A call into a plug-in that is in progress on any thread, or null. The call may end at any time,
// and its info with it. For a signal handler on a thread that is not known to be the host's.
const CallbackInfo* AnyCallback();

// The call into a plug-in that ended last on this thread; empty if none did. The node is not kept.
// `plugin` is the thread's own copy of the path, of up to 255 bytes, until the thread's next call
// ends. Safe to call from a signal handler.
CallbackInfo LastCallback();

// The innermost call in progress on a thread, for a watchdog. Two records with the same thread and
// serial are of the same call. One call may have several serials: a call gets a new one whenever a
// call within it ends. `call` may be read only while ActiveCalls still returns this thread and
// serial.
struct ActiveCall {
  const void* thread;  // identifies the thread while it lives; a later thread may get the same
  uint64_t serial;
  const CallbackInfo* call;
};
// Returns a record for each thread that is within a call. Leaves out a thread whose calls begin and
// end faster than the record can be read. Thread-safe, without a lock.
std::vector<ActiveCall> ActiveCalls();

// Marks this thread as one of the host's. While plug-ins are loaded, a fault on a thread without
// the mark is attributed to plug-ins.
void MarkHostThread();
// Whether this thread has the mark. Safe to call from a signal handler.
bool IsHostThread();

// Notes, for the lifetime of the scope, that this thread works for the node that `node(context)`
// names. `node` is called only when a call into a plug-in begins without a node of its own and
// without another call around it. Scopes nest: the innermost counts.
class WorkScope {
 public:
  using NodeFn = std::string_view (*)(const void* context);
  WorkScope(NodeFn node, const void* context);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  NodeFn outer_node_;
  const void* outer_context_;
};

// Notes, for the lifetime of the scope, a call into a plug-in, or a wait for work that the call
// started. Scopes nest on a thread. If `node` is empty, the call works for the node of the call
// around it, even if that is none; without a call around it, for the node of the WorkScope. The
// strings must outlive the scope, and `callback` the thread: LastCallback points to it.
class CallbackScope {
 public:
  CallbackScope(const char* plugin, const char* callback, std::string_view node = {});
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  CallbackInfo info_;
  const CallbackInfo* outer_;
};

// Sets the handler for a plug-in that ends the host's thread (pthread_exit) within CallPlugin. The
// handler runs on that thread, while CurrentCallback() still is the call. The thread ends if the
// handler returns, or if it is null, the default. For the whole process.
void OnThreadEndedByPlugin(void (*handler)());
// Calls the handler, if there is one.
void ThreadEndsByPlugin();

// Returns INTERNAL "callback of plug-in path threw an exception: what"; `what` may be null. Reports
// the exception to AbiWatch while that is on.
absl::Status ExceptionStatus(const CallbackInfo& info, const char* what);

// Adds "(callback of plug-in path)" to the message of a callback's error. Code and payloads stay.
// OK stays OK.
absl::Status Attribute(absl::Status status, std::string_view callback, std::string_view plugin);

// Marks an error as a fault of the plug-in itself, as opposed to one of the graph or of the
// arguments. OK stays OK.
absl::Status PluginFault(absl::Status status);
// Whether PluginFault has marked `status`.
bool IsPluginFault(const absl::Status& status);

// Writes the message of an error that cannot be returned to a caller as one line to stderr, each
// text only once. Writes nothing for OK, and nothing with a TF_CPP_MIN_LOG_LEVEL of 2 or more.
// Thread-safe.
void WarnOf(const absl::Status& status);

// Calls `fn`, which calls into the plug-in, within a CallbackScope. Returns OK, or the status of an
// exception. The forced unwinding of a thread that ends (pthread_exit) passes through: the C++
// run-time library aborts a process that swallows it.
template <typename Fn>
absl::Status CallPlugin(const char* plugin, const char* callback, std::string_view node, Fn&& fn) {
  CallbackScope scope(plugin, callback, node);
  try {
    std::forward<Fn>(fn)();
    return absl::OkStatus();
  } catch (abi::__forced_unwind&) {
    ThreadEndsByPlugin();
    throw;
  } catch (const std::exception& e) {
    return ExceptionStatus({plugin, callback, node}, e.what());
  } catch (...) {
    return ExceptionStatus({plugin, callback, node}, nullptr);
  }
}

}  // namespace tenon
