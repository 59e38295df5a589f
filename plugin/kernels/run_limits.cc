// A wait comes in slices, since who cancels a run does not know the mutex that the run waits with.
#include "plugin/kernels/run_limits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

constexpr absl::Duration kSlice = absl::Milliseconds(10);

// A variable of the thread that costs no call to reach: each run sets it.
__thread const RunLimits* limits_of_thread __attribute__((tls_model("initial-exec"))) = nullptr;

// The count in which the thread is one.
__thread std::atomic<int>* computing __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

void CountComputing(std::atomic<int>* threads) {
  if (computing != nullptr) computing->fetch_sub(1, std::memory_order_relaxed);
  computing = threads;
  if (computing != nullptr) computing->fetch_add(1, std::memory_order_relaxed);
}

Pause::Pause() {
  if (computing != nullptr) computing->fetch_sub(1, std::memory_order_relaxed);
}
Pause::~Pause() {
  if (computing != nullptr) computing->fetch_add(1, std::memory_order_relaxed);
}

absl::Status RunLimits::Check() const {
  if (is_cancelled()) return absl::CancelledError("the run was cancelled");
  if (is_late()) return absl::DeadlineExceededError("Timed out waiting for notification");
  return absl::OkStatus();
}

LimitsScope::LimitsScope(const RunLimits* limits)
    : outer_(std::exchange(limits_of_thread, limits)) {}
LimitsScope::~LimitsScope() { limits_of_thread = outer_; }

const RunLimits* LimitsOfThread() { return limits_of_thread; }

absl::StatusOr<bool> AwaitOtherRun(absl::Mutex& mutex, const absl::Condition& condition,
                                   std::string_view action) {
  static const RunLimits defaults;
  const RunLimits& limits = limits_of_thread == nullptr ? defaults : *limits_of_thread;
  const auto cancelled = [&] {
    return absl::CancelledError(absl::StrCat(action, " operation was cancelled"));
  };
  // A run that was cancelled before takes and gives nothing, even where it need not wait.
  if (limits.is_cancelled()) return cancelled();
  // Where nobody can cancel the run, the wait is one slice.
  const absl::Duration slice = limits.cancelled == nullptr ? absl::InfiniteDuration() : kSlice;
  const absl::Time end = absl::Now() + limits.patience;
  const Pause pause;
  while (true) {
    const absl::Time until = std::min({end, limits.deadline, absl::Now() + slice});
    if (mutex.AwaitWithDeadline(condition, until)) return true;
    if (limits.is_cancelled()) return cancelled();
    absl::Status status = limits.Check();
    if (!status.ok()) return status;
    if (absl::Now() >= end) return false;
  }
}

}  // namespace tenon
