// Ctrl-C: what a command has done until then is printed, and the process ends with code 130.
#pragma once

#include "absl/status/status.h"

namespace tenon::cli {

// From now on SIGINT ends the process with a line on stderr, a document on stdout where one is due,
// and code 130, unless somebody stops on it. A SIGINT that is ignored stays so, and child processes
// end without a word. For the whole process, once.
void HandleInterrupts();

// As long as one of these lives, the first SIGINT ends nothing: work that can stop asks for it and
// stops by itself. The second one ends the process.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
};

// Whether a SIGINT came while somebody was to stop on it.
bool Interrupted();

// CANCELLED (kInterrupted) if so, else OK: how a command ends that stopped.
absl::Status EndOfInterrupted();

}  // namespace tenon::cli
