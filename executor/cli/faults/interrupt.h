// Handles Ctrl-C: the command prints what it has done until then, and ends with code 130.
#pragma once

#include "absl/status/status.h"

namespace tenon::cli {

// From now on SIGINT ends the process with a line on stderr, a document on stdout if one is due,
// and code 130, unless a StopOnInterrupt lives. A SIGINT that is ignored stays ignored. Child
// processes end without a message. Called once, for the whole process.
void HandleInterrupts();

// While one of these lives, the first SIGINT does not end the process: the work asks Interrupted
// and stops by itself. The second SIGINT ends the process. Thread-safe.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
};

// Whether a SIGINT came while a StopOnInterrupt lived. Stays true.
bool Interrupted();

// CANCELLED (kInterrupted) if Interrupted, else OK: the status of a command that stopped.
absl::Status EndOfInterrupted();

}  // namespace tenon::cli
