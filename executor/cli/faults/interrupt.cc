// The first SIGINT or SIGTERM only sets a flag if the work of the moment looks at the flag. Any
// other one ends the process, and so does the watchdog if the work looks too late.

#include "executor/cli/faults/interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/fault_line.h"

namespace tenon::cli {
namespace {

pid_t command_process = 0;
std::atomic<int> stopping_on_it{0};
std::atomic<bool> interrupted{false};
std::atomic<int64_t> interrupted_ms{0};  // when; meaningful once `interrupted` is true
std::atomic<int64_t> ms_to_stop{0};
std::atomic<int> interrupting_signal{SIGINT};
// A signal handler must not take a lock.
static_assert(std::atomic<int64_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

int64_t MillisNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

const char* SignalName() { return interrupting_signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

void OnInterrupt(int signal) {
  // A child that a plug-in forked has the handler too.
  if (getpid() != command_process) EndProcess(Exit::kInterrupted);
  interrupting_signal = signal;
  if (stopping_on_it > 0 && !interrupted) {
    interrupted_ms = MillisNow();
    if (!interrupted.exchange(true)) return;
  }
  FaultLine line;
  line.Add("interrupted (").Add(SignalName()).Add(")").Write("CANCELLED");
  EndProcess(Exit::kInterrupted);
}

}  // namespace

void HandleInterrupts() {
  command_process = getpid();
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;
    struct sigaction action = {};
    action.sa_handler = OnInterrupt;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

StopOnInterrupt::StopOnInterrupt(double seconds) {
  ms_to_stop = static_cast<int64_t>(seconds * 1000);
  ++stopping_on_it;
}
StopOnInterrupt::~StopOnInterrupt() { --stopping_on_it; }

bool Interrupted() { return interrupted; }

void EndOverdueWork() {
  if (!interrupted || stopping_on_it == 0 || MillisNow() - interrupted_ms < ms_to_stop) return;
  FaultLine line;
  line.Add("interrupted (").Add(SignalName()).Add("): the run of the moment has not ended within ");
  line.Add(absl::StrCat(ms_to_stop / 1000)).Add(" s").Write("CANCELLED");
  EndProcess(Exit::kInterrupted);
}

absl::Status EndOfInterrupted() {
  if (!Interrupted()) return absl::OkStatus();
  return WithExit(Exit::kInterrupted,
                  absl::CancelledError(absl::StrCat("interrupted (", SignalName(),
                                                    "): what was done until then is printed")));
}

}  // namespace tenon::cli
