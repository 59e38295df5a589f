// Calls into a plug-in: which one is running on this thread, for a signal handler to name, and a
// guard against exceptions.
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

// The call in progress; strings live as long as the call. Empty where there is nothing to say.
struct CallbackInfo {
  const char* plugin = "";    // path
  const char* callback = "";  // "memcpy_htod", "compute_func", "dlopen" …
  std::string_view node;      // that it works for
};

// The innermost call into a plug-in on this thread, or null. Safe to call from a signal handler.
const CallbackInfo* CurrentCallback();
// A call in progress on whatever thread, or null; it may end at any time. For a signal handler on a
// thread of which nothing is known.
const CallbackInfo* AnyCallback();

// The call into a plug-in that this thread made last, if none is in progress. Empty if there was
// none. Of the plug-in's path the memory goes with the plug-in. Safe to call from a signal handler.
CallbackInfo LastCallback();

// A call in progress on some thread, for a watchdog. The same thread with the same serial is the
// same call; only while that holds may `call` be read.
struct ActiveCall {
  const void* thread;
  uint64_t serial;
  const CallbackInfo* call;
};
std::vector<ActiveCall> ActiveCalls();

// Marks this thread as one of the host's. While plug-ins are loaded, what happens on a thread
// without the mark is theirs.
void MarkHostThread();
// Safe to call from a signal handler.
bool IsHostThread();

// Marks what this thread does for its lifetime as work for a node, which `node(context)` tells at
// any time.
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

// Marks a call, or a wait for what it set going, for its lifetime; they nest. Without a node it is
// for that of the call around it, else that of the work.
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

// What happens when a plug-in ends the host's thread that called it (pthread_exit), while
// CurrentCallback() still is that call. Null, the default: the thread ends. For the whole process.
void OnThreadEndedByPlugin(void (*handler)());
void ThreadEndsByPlugin();

// INTERNAL "callback of plug-in path threw an exception: what".
absl::Status ExceptionStatus(const CallbackInfo& info, const char* what);

// The error of a callback: its own code and text, then "(callback of plug-in path)". OK stays OK.
absl::Status Attribute(absl::Status status, std::string_view callback, std::string_view plugin);

// Marks an error that is the plug-in's own, whatever it was asked to do. OK stays OK.
absl::Status PluginFault(absl::Status status);
bool IsPluginFault(const absl::Status& status);

// For a failure that no caller is left to hear of: one line on stderr, the same text only once.
// Nothing for OK, and nothing with a TF_CPP_MIN_LOG_LEVEL of 2 or more.
void WarnOf(const absl::Status& status);

// Calls fn, which calls into the plug-in. An exception becomes a status; the end of the thread
// passes through.
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
