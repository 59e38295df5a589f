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

using Debtor = std::shared_ptr<const CallDebtor>;

constexpr char kRule[] = "called_twice";

// The calls that plug-ins owe. A map, not the objects' own state: a second call may come when the
// object of the first is gone.
struct OwedCalls {
  absl::Mutex mutex;
  uintptr_t last ABSL_GUARDED_BY(mutex) = 0;  // the highest number given out; 0 is none
  absl::flat_hash_map<uintptr_t, std::pair<void*, Debtor>> owed ABSL_GUARDED_BY(mutex);
  // The calls that were taken last, by number modulo the size, to name the debtor of a second call.
  std::array<std::pair<uintptr_t, Debtor>, 256> called ABSL_GUARDED_BY(mutex);
};

// Never destroyed: threads of plug-ins may call back while the process ends.
OwedCalls& TheCalls() {
  static auto* const calls = new OwedCalls;
  return *calls;
}

// Reports a call that is none of the owed ones: a violation in strict mode, else a warning, since
// the host has come to no harm.
void Tell(const Debtor& debtor, uintptr_t number) {
  const std::string what = number == 0
                               ? "the handle is NULL"
                               : "the call was made before, or it is none that the host waits for";
  if (AbiWatch* const watch = AbiWatch::Active()) {
    if (debtor == nullptr) return watch->Report(kRule, what);
    return watch->Report({debtor->plugin, debtor->callback, debtor->node, kRule, what});
  }
  const CallbackInfo* const current = CurrentCallback();
  const std::string who =
      debtor != nullptr    ? absl::StrCat(debtor->callback, " of plug-in ", debtor->plugin)
      : current != nullptr ? absl::StrCat(current->callback, " of plug-in ", current->plugin)
                           : "a plug-in";
  const std::string node =
      debtor == nullptr || debtor->node.empty() ? "" : absl::StrCat(", node '", debtor->node, "'");
  WarnOf(
      absl::FailedPreconditionError(absl::StrCat(who, node, " calls back once too often: ", what)));
}

}  // namespace

void* PendingCall(void* object, Debtor debtor) {
  OwedCalls& calls = TheCalls();
  absl::MutexLock lock(&calls.mutex);
  const uintptr_t number = ++calls.last;
  calls.owed.emplace(number, std::pair(object, std::move(debtor)));
  return reinterpret_cast<void*>(number);
}

// A dropped call is kept among those that were taken, so that a late call can name its debtor.
void* DropPendingCall(void* handle) {
  OwedCalls& calls = TheCalls();
  const auto number = reinterpret_cast<uintptr_t>(handle);
  absl::MutexLock lock(&calls.mutex);
  const auto found = calls.owed.find(number);
  if (found == calls.owed.end()) return nullptr;
  void* const object = found->second.first;
  calls.called[number % calls.called.size()] = {number, std::move(found->second.second)};
  calls.owed.erase(found);
  return object;
}

void* TakePendingCall(void* handle) {
  if (void* const object = DropPendingCall(handle)) return object;
  OwedCalls& calls = TheCalls();
  const auto number = reinterpret_cast<uintptr_t>(handle);
  Debtor debtor;  // stays null for a number that was never given out, or was long ago
  {
    absl::MutexLock lock(&calls.mutex);
    const auto& [last, of] = calls.called[number % calls.called.size()];
    if (last == number) debtor = of;
  }
  Tell(debtor, number);
  return nullptr;
}

}  // namespace tenon
