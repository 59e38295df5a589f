// The first SIGINT only sets a flag if the work of the moment looks at the flag. Any other SIGINT
// ends the process.

#include "executor/cli/faults/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/fault_line.h"

namespace tenon::cli {
namespace {

pid_t command_process = 0;
std::atomic<int> stopping_on_it{0};
std::atomic<bool> interrupted{false};
// A signal handler must not take a lock.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void OnInterrupt(int) {
  // A child that a plug-in forked has the handler too.
  if (getpid() != command_process) EndProcess(Exit::kInterrupted);
  if (stopping_on_it > 0 && !interrupted.exchange(true)) return;
  FaultLine line;
  line.Add("interrupted (SIGINT)").Write("CANCELLED");
  EndProcess(Exit::kInterrupted);
}

}  // namespace

void HandleInterrupts() {
  command_process = getpid();
  struct sigaction before = {};
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler != SIG_DFL) return;
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

StopOnInterrupt::StopOnInterrupt() { ++stopping_on_it; }
StopOnInterrupt::~StopOnInterrupt() { --stopping_on_it; }

bool Interrupted() { return interrupted; }

absl::Status EndOfInterrupted() {
  if (!Interrupted()) return absl::OkStatus();
  return WithExit(
      Exit::kInterrupted,
      absl::CancelledError("interrupted (SIGINT): what was done until then is printed"));
}

}  // namespace tenon::cli
