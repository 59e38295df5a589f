#include "plugin/device/pending_calls.h"

#include <array>
#include <cstdint>
#include <utility>

#include "absl/base/const_init.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/callback_scope.h"

namespace tenon {
namespace {

using Caller = std::shared_ptr<const ExpectedCaller>;

constexpr char kRule[] = "called_twice";

// The calls that plug-ins must make. A map, not the objects' own state: a second call may come when
// the object of the first is gone.
struct ExpectedCalls {
  absl::Mutex mutex;
  uintptr_t last ABSL_GUARDED_BY(mutex) = 0;  // the highest number given out; 0 is none
  absl::flat_hash_map<uintptr_t, std::pair<void*, Caller>> expected ABSL_GUARDED_BY(mutex);
  // The calls that were taken last, by number modulo the size, to name the caller of a second call.
  std::array<std::pair<uintptr_t, Caller>, 256> called ABSL_GUARDED_BY(mutex);
};

// Never destroyed: threads of plug-ins may call back while the process ends.
ExpectedCalls& TheCalls() {
  static auto* const calls = new ExpectedCalls;
  return *calls;
}

// Reports a call that is none of the expected calls: a violation in strict mode, else a warning,
// since the host has come to no harm.
void Tell(const Caller& caller, uintptr_t number) {
  const std::string what = number == 0
                               ? "the handle is NULL"
                               : "the call was made before, or it is none that the host waits for";
  if (AbiWatch* const watch = AbiWatch::Active()) {
    if (caller == nullptr) return watch->Report(kRule, what);
    return watch->Report({caller->plugin, caller->callback, caller->node, kRule, what});
  }
  const CallbackInfo* const current = CurrentCallback();
  const std::string who =
      caller != nullptr    ? absl::StrCat(caller->callback, " of plug-in ", caller->plugin)
      : current != nullptr ? absl::StrCat(current->callback, " of plug-in ", current->plugin)
                           : "a plug-in";
  const std::string node =
      caller == nullptr || caller->node.empty() ? "" : absl::StrCat(", node '", caller->node, "'");
  WarnOf(
      absl::FailedPreconditionError(absl::StrCat(who, node, " calls back once too often: ", what)));
}

}  // namespace

void* PendingCall(void* object, Caller caller) {
  ExpectedCalls& calls = TheCalls();
  absl::MutexLock lock(&calls.mutex);
  const uintptr_t number = ++calls.last;
  calls.expected.emplace(number, std::pair(object, std::move(caller)));
  return reinterpret_cast<void*>(number);
}

// A dropped call is kept among those that were taken, so that a late call can name its caller.
void* DropPendingCall(void* handle) {
  ExpectedCalls& calls = TheCalls();
  const auto number = reinterpret_cast<uintptr_t>(handle);
  absl::MutexLock lock(&calls.mutex);
  const auto found = calls.expected.find(number);
  if (found == calls.expected.end()) return nullptr;
  void* const object = found->second.first;
  calls.called[number % calls.called.size()] = {number, std::move(found->second.second)};
  calls.expected.erase(found);
  return object;
}

void* TakePendingCall(void* handle) {
  if (void* const object = DropPendingCall(handle)) return object;
  ExpectedCalls& calls = TheCalls();
  const auto number = reinterpret_cast<uintptr_t>(handle);
  Caller caller;  // stays null for a number that was never given out, or was long ago
  {
    absl::MutexLock lock(&calls.mutex);
    const auto& [last, of] = calls.called[number % calls.called.size()];
    if (last == number) caller = of;
  }
  Tell(caller, number);
  return nullptr;
}

}  // namespace tenon
