// Handles Ctrl-C (SIGINT) and SIGTERM. Work that can stop early prints what it has done until then.
// The process ends with code 130, unless another error ends such work first.
#pragma once

#include "absl/status/status.h"

namespace tenon::cli {

// Installs a handler of SIGINT and SIGTERM for the whole process. To be called once. From then on
// one of these signals writes what FaultLine::Write writes and ends the process with code 130,
// unless a StopOnInterrupt lives. A signal that is ignored or has a handler already stays as it is.
// A process that is forked later has the handler too: a signal ends it with code 130 and without a
// message.
void HandleInterrupts();

// While at least one of these lives, the first such signal does not end the process: the work asks
// Interrupted and stops by itself, `seconds` after the signal at the latest, or else
// EndOverdueWork ends the process. Every further signal ends the process at once, also while
// another object lives. Objects may nest; the `seconds` of the one that was made last count. They
// may be made and destroyed on any thread.
class StopOnInterrupt {
 public:
  static constexpr double kSeconds = 10;
  explicit StopOnInterrupt(double seconds = kSeconds);
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
};

// Whether such a signal came while a StopOnInterrupt lived. Stays true once it is true.
// Thread-safe.
bool Interrupted();

// Ends the process with code 130 and a message if work has not stopped in the time that its
// StopOnInterrupt gave. For the watchdog, which calls it again and again.
void EndOverdueWork();

// The status for a command to return when its work is done or stopped. CANCELLED with exit code
// kInterrupted if Interrupted() is true, else OK.
absl::Status EndOfInterrupted();

}  // namespace tenon::cli
